"""All opcodes by name, and the ways to and from their wire form."""

from ganeti_tx.model.opcodes.backup import (
    OpBackupExport,
    OpBackupPrepare,
    OpBackupRemove,
)
from ganeti_tx.model.opcodes.base import (
    OpCode,
    short_summary,
    summary,
)
from ganeti_tx.model.opcodes.cluster import (
    OpClusterActivateMasterIp,
    OpClusterConfigQuery,
    OpClusterDeactivateMasterIp,
    OpClusterDestroy,
    OpClusterPostInit,
    OpClusterQuery,
    OpClusterRedistConf,
    OpClusterRename,
    OpClusterRenewCrypto,
    OpClusterRepairDiskSizes,
    OpClusterSetParams,
)
from ganeti_tx.model.opcodes.cluster_verify import (
    OpClusterVerify,
    OpClusterVerifyConfig,
    OpClusterVerifyDisks,
    OpClusterVerifyGroup,
)
from ganeti_tx.model.opcodes.decode import (
    decode,
)
from ganeti_tx.model.opcodes.encode import (
    Disclosure,
    encode,
    encode_as_sent,
    stored_size,
)
from ganeti_tx.model.opcodes.ext_storage import (
    OpExtStorageDiagnose,
)
from ganeti_tx.model.opcodes.group import (
    OpGroupAdd,
    OpGroupAssignNodes,
    OpGroupEvacuate,
    OpGroupRemove,
    OpGroupRename,
    OpGroupSetParams,
    OpGroupVerifyDisks,
)
from ganeti_tx.model.opcodes.instance import (
    OpInstanceConsole,
    OpInstanceQueryData,
    OpInstanceReinstall,
    OpInstanceRemove,
    OpInstanceRename,
    OpInstanceSetParams,
)
from ganeti_tx.model.opcodes.instance_create import (
    OpInstanceCreate,
    OpInstanceMultiAlloc,
)
from ganeti_tx.model.opcodes.instance_disks import (
    OpInstanceActivateDisks,
    OpInstanceDeactivateDisks,
    OpInstanceGrowDisk,
    OpInstanceRecreateDisks,
    OpInstanceReplaceDisks,
)
from ganeti_tx.model.opcodes.instance_place import (
    OpInstanceChangeGroup,
    OpInstanceFailover,
    OpInstanceMigrate,
    OpInstanceMove,
)
from ganeti_tx.model.opcodes.instance_state import (
    OpInstanceReboot,
    OpInstanceShutdown,
    OpInstanceStartup,
)
from ganeti_tx.model.opcodes.masked import (
    masked,
)
from ganeti_tx.model.opcodes.network import (
    OpNetworkAdd,
    OpNetworkConnect,
    OpNetworkDisconnect,
    OpNetworkRemove,
    OpNetworkRename,
    OpNetworkSetParams,
)
from ganeti_tx.model.opcodes.node import (
    OpNodeAdd,
    OpNodeEvacuate,
    OpNodeMigrate,
    OpNodePowercycle,
    OpNodeRemove,
    OpNodeSetParams,
    OpOobCommand,
    OpRestrictedCommand,
)
from ganeti_tx.model.opcodes.node_storage import (
    OpNodeModifyStorage,
    OpNodeQueryStorage,
    OpNodeQueryvols,
    OpRepairNodeStorage,
)
from ganeti_tx.model.opcodes.os import (
    OpOsDiagnose,
)
from ganeti_tx.model.opcodes.private import (
    REDACTED,
    Private,
    Secret,
    reveal,
)
from ganeti_tx.model.opcodes.query import (
    OpQuery,
    OpQueryFields,
)
from ganeti_tx.model.opcodes.registry import (
    OPCODES,
)
from ganeti_tx.model.opcodes.tags import (
    OpTagsDel,
    OpTagsGet,
    OpTagsSearch,
    OpTagsSet,
)
from ganeti_tx.model.opcodes.test import (
    OpTestAllocator,
    OpTestDelay,
    OpTestDummy,
    OpTestJqueue,
    OpTestOsParams,
)

__all__ = [
    "OPCODES",
    "REDACTED",
    "Disclosure",
    "OpBackupExport",
    "OpBackupPrepare",
    "OpBackupRemove",
    "OpClusterActivateMasterIp",
    "OpClusterConfigQuery",
    "OpClusterDeactivateMasterIp",
    "OpClusterDestroy",
    "OpClusterPostInit",
    "OpClusterQuery",
    "OpClusterRedistConf",
    "OpClusterRename",
    "OpClusterRenewCrypto",
    "OpClusterRepairDiskSizes",
    "OpClusterSetParams",
    "OpClusterVerify",
    "OpClusterVerifyConfig",
    "OpClusterVerifyDisks",
    "OpClusterVerifyGroup",
    "OpCode",
    "OpExtStorageDiagnose",
    "OpGroupAdd",
    "OpGroupAssignNodes",
    "OpGroupEvacuate",
    "OpGroupRemove",
    "OpGroupRename",
    "OpGroupSetParams",
    "OpGroupVerifyDisks",
    "OpInstanceActivateDisks",
    "OpInstanceChangeGroup",
    "OpInstanceConsole",
    "OpInstanceCreate",
    "OpInstanceDeactivateDisks",
    "OpInstanceFailover",
    "OpInstanceGrowDisk",
    "OpInstanceMigrate",
    "OpInstanceMove",
    "OpInstanceMultiAlloc",
    "OpInstanceQueryData",
    "OpInstanceReboot",
    "OpInstanceRecreateDisks",
    "OpInstanceReinstall",
    "OpInstanceRemove",
    "OpInstanceRename",
    "OpInstanceReplaceDisks",
    "OpInstanceSetParams",
    "OpInstanceShutdown",
    "OpInstanceStartup",
    "OpNetworkAdd",
    "OpNetworkConnect",
    "OpNetworkDisconnect",
    "OpNetworkRemove",
    "OpNetworkRename",
    "OpNetworkSetParams",
    "OpNodeAdd",
    "OpNodeEvacuate",
    "OpNodeMigrate",
    "OpNodeModifyStorage",
    "OpNodePowercycle",
    "OpNodeQueryStorage",
    "OpNodeQueryvols",
    "OpNodeRemove",
    "OpNodeSetParams",
    "OpOobCommand",
    "OpOsDiagnose",
    "OpQuery",
    "OpQueryFields",
    "OpRepairNodeStorage",
    "OpRestrictedCommand",
    "OpTagsDel",
    "OpTagsGet",
    "OpTagsSearch",
    "OpTagsSet",
    "OpTestAllocator",
    "OpTestDelay",
    "OpTestDummy",
    "OpTestJqueue",
    "OpTestOsParams",
    "Private",
    "Secret",
    "decode",
    "encode",
    "encode_as_sent",
    "masked",
    "reveal",
    "short_summary",
    "stored_size",
    "summary",
]
