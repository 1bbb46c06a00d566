"""The one table of node calls: what each carries, what it answers, how long it may take and how big it may be.

Both ends read it. A call is a frozen value whose class knows the rest, so `await nodes.call(node, InstanceStart(...))` is
typed from end to end. Names and time-out classes are those of Ganeti's node call table; arguments travel by name, because
nobody but this program speaks this protocol. Each noun has a module of its own; who needs a call imports it from here.
"""

from ganeti_tx.rpc.calls.backup import ExportList
from ganeti_tx.rpc.calls.base import FAST, NORMAL, ONE_DAY, SLOW, URGENT, MiB, NodeCall
from ganeti_tx.rpc.calls.cluster import (
    ClusterCopies,
    CopiesState,
    UploadFile,
    WriteRapiFiles,
    WriteSsconfFiles,
    WriteSshFiles,
)
from ganeti_tx.rpc.calls.disk import (
    BlockdevAssemble,
    BlockdevCreate,
    BlockdevFind,
    BlockdevGrow,
    BlockdevRemove,
    BlockdevRename,
    BlockdevShutdown,
    DiskState,
)
from ganeti_tx.rpc.calls.hooks import HooksRunner
from ganeti_tx.rpc.calls.instance import (
    AllInstancesInfo,
    HypervisorValidateParams,
    InstanceConsole,
    InstanceInfo,
    InstanceOsAdd,
    InstanceReboot,
    InstanceShutdown,
    InstanceStart,
    RunningInstance,
)
from ganeti_tx.rpc.calls.master import (
    Ballot,
    MasterNodeName,
    MasterVote,
    NodeActivateMasterIp,
    NodeChangeMasterNetmask,
    NodeDeactivateMasterIp,
    NodeStartMasterDaemons,
    NodeStopMaster,
)
from ganeti_tx.rpc.calls.node import (
    BridgesExist,
    NodeCryptoTokens,
    NodeDemoteFromMc,
    NodeFacts,
    NodeHasIpAddress,
    NodeInfo,
    NodeLeaveCluster,
    NodeSshKeys,
    NodeVerify,
    SshKeys,
    StorageSpace,
    StorageUnit,
    TestDelay,
    Version,
)
from ganeti_tx.rpc.calls.os import OsDiagnose, OsReport, OsValidate
from ganeti_tx.rpc.calls.queue import (
    JobqueueDigests,
    JobqueuePurge,
    JobqueueRename,
    JobqueueSetDrainFlag,
    JobqueueSweep,
    JobqueueUpdate,
)

#: The one table: every call by its name on the wire.
CALLS: dict[str, type[NodeCall[object]]] = {call.name: call for call in NodeCall.__subclasses__()}

__all__ = [
    "CALLS",
    "FAST",
    "NORMAL",
    "ONE_DAY",
    "SLOW",
    "URGENT",
    "AllInstancesInfo",
    "Ballot",
    "BlockdevAssemble",
    "BlockdevCreate",
    "BlockdevFind",
    "BlockdevGrow",
    "BlockdevRemove",
    "BlockdevRename",
    "BlockdevShutdown",
    "BridgesExist",
    "ClusterCopies",
    "CopiesState",
    "DiskState",
    "ExportList",
    "HooksRunner",
    "HypervisorValidateParams",
    "InstanceConsole",
    "InstanceInfo",
    "InstanceOsAdd",
    "InstanceReboot",
    "InstanceShutdown",
    "InstanceStart",
    "JobqueueDigests",
    "JobqueuePurge",
    "JobqueueRename",
    "JobqueueSetDrainFlag",
    "JobqueueSweep",
    "JobqueueUpdate",
    "MasterNodeName",
    "MasterVote",
    "MiB",
    "NodeActivateMasterIp",
    "NodeCall",
    "NodeChangeMasterNetmask",
    "NodeCryptoTokens",
    "NodeDeactivateMasterIp",
    "NodeDemoteFromMc",
    "NodeFacts",
    "NodeHasIpAddress",
    "NodeInfo",
    "NodeLeaveCluster",
    "NodeSshKeys",
    "NodeStartMasterDaemons",
    "NodeStopMaster",
    "NodeVerify",
    "OsDiagnose",
    "OsReport",
    "OsValidate",
    "RunningInstance",
    "SshKeys",
    "StorageSpace",
    "StorageUnit",
    "TestDelay",
    "UploadFile",
    "Version",
    "WriteRapiFiles",
    "WriteSsconfFiles",
    "WriteSshFiles",
]
