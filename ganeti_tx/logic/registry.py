"""Which logical unit does which opcode. An opcode that is not here is not available in this version: a job with it is refused
when it is submitted, and the Remote API neither describes nor takes requests for it.
"""

from ganeti_tx.logic.base import UnitTable
from ganeti_tx.logic.cluster.destroy import Destroy
from ganeti_tx.logic.cluster.distribute import PostInit, Redistribute
from ganeti_tx.logic.cluster.master_ip import ActivateMasterIp, DeactivateMasterIp
from ganeti_tx.logic.cluster.query import ConfigQuery, Query
from ganeti_tx.logic.cluster.set_params import SetParams as ClusterSetParams
from ganeti_tx.logic.cluster.verify_config import Verify, VerifyConfig
from ganeti_tx.logic.debug.delay import Delay
from ganeti_tx.logic.debug.jobqueue import Jobqueue
from ganeti_tx.logic.instance.console import InstanceConsole
from ganeti_tx.logic.instance.create import InstanceCreate
from ganeti_tx.logic.instance.query_data import QueryData
from ganeti_tx.logic.instance.reboot import InstanceReboot
from ganeti_tx.logic.instance.remove import InstanceRemove
from ganeti_tx.logic.instance.shutdown import InstanceShutdown
from ganeti_tx.logic.instance.startup import InstanceStartup
from ganeti_tx.logic.node.add import Add
from ganeti_tx.logic.node.remove import Remove
from ganeti_tx.logic.node.set_params import SetParams as NodeSetParams
from ganeti_tx.logic.os.diagnose import Diagnose
from ganeti_tx.logic.tags.tags import Delete, Get, Search, Set
from ganeti_tx.model import opcodes

UNITS: UnitTable = {
    opcodes.OpClusterActivateMasterIp: ActivateMasterIp,
    opcodes.OpClusterConfigQuery: ConfigQuery,
    opcodes.OpClusterDeactivateMasterIp: DeactivateMasterIp,
    opcodes.OpClusterDestroy: Destroy,
    opcodes.OpClusterPostInit: PostInit,
    opcodes.OpClusterQuery: Query,
    opcodes.OpClusterRedistConf: Redistribute,
    opcodes.OpClusterSetParams: ClusterSetParams,
    opcodes.OpClusterVerify: Verify,
    opcodes.OpClusterVerifyConfig: VerifyConfig,
    opcodes.OpInstanceConsole: InstanceConsole,
    opcodes.OpInstanceCreate: InstanceCreate,
    opcodes.OpInstanceQueryData: QueryData,
    opcodes.OpInstanceReboot: InstanceReboot,
    opcodes.OpInstanceRemove: InstanceRemove,
    opcodes.OpInstanceShutdown: InstanceShutdown,
    opcodes.OpInstanceStartup: InstanceStartup,
    opcodes.OpNodeAdd: Add,
    opcodes.OpNodeRemove: Remove,
    opcodes.OpNodeSetParams: NodeSetParams,
    opcodes.OpOsDiagnose: Diagnose,
    opcodes.OpTagsDel: Delete,
    opcodes.OpTagsGet: Get,
    opcodes.OpTagsSearch: Search,
    opcodes.OpTagsSet: Set,
    opcodes.OpTestDelay: Delay,
    opcodes.OpTestJqueue: Jobqueue,
}
