"""Whom this node follows: configuration, simple configuration and the job queue come from one master only.

It is the one that simple configuration names. Another one takes over by a claim, that is, a configuration or simple
configuration that names its sender as the master, in a higher term than all that this node has heard of. So a master that
was cut off while another took over is refused when it comes back, however far it has counted on its own. Only a node that
has heard of no term yet looks at serial numbers instead: the claim must bring a higher one than all that is there
(doc/design/replication.rst).
"""

from collections.abc import Awaitable, Callable
from typing import Any

from attrs import define, field
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from ganeti_tx.mastership.ballot import own_ballot, ssconf_master
from ganeti_tx.model.config_head import read_head
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.answers import Method
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.cluster import UploadFile, WriteRapiFiles, WriteSsconfFiles, WriteSshFiles
from ganeti_tx.rpc.calls.hooks import HooksRunner
from ganeti_tx.rpc.calls.node import NodeDemoteFromMc, NodeLeaveCluster, NodeSshKeys
from ganeti_tx.rpc.calls.queue import JobqueuePurge, JobqueueRename, JobqueueSetDrainFlag, JobqueueSweep, JobqueueUpdate
from ganeti_tx.rpc.refusals import AnotherIsMaster, UnknownCaller
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

#: What only the master may send.
GUARDED = (
    UploadFile,
    WriteSsconfFiles,
    WriteRapiFiles,
    WriteSshFiles,
    NodeSshKeys,
    JobqueueUpdate,
    JobqueueRename,
    JobqueueSweep,
    JobqueuePurge,
    JobqueueSetDrainFlag,
    NodeDemoteFromMc,
    NodeLeaveCluster,
    HooksRunner,
    IallocatorRunner,
)
#: By which it may become the master.
CLAIMING = (UploadFile, WriteSsconfFiles, WriteRapiFiles)


@define
class Allegiance:
    """Admits the calls of the master, and a new master. `dethrone` stops the master daemons of this node."""

    files: IFiles
    paths: Paths
    own_name: str
    terms: Terms
    dethrone: Callable[[], Awaitable[None]]
    _refused: set[str] = field(factory=set)
    _turn: DeferredLock = field(factory=DeferredLock)

    async def perform(self, call: NodeCall[object], caller: str | None, method: Method) -> Any:
        """Do a call by its method. A caller of None is not known, and nobody's master.

        @raise CallRefused: this node follows another master than the caller, or the caller is not who it says.
        """
        if not isinstance(call, GUARDED):
            return await method(call)
        master = sender(call, caller)
        if not isinstance(call, CLAIMING):
            await self._check(call, master)
            return await method(call)
        await self._turn.acquire()  # of two new masters at the same time one is refused
        try:
            await self._check(call, master)
            return await method(call)
        finally:
            self._turn.release()

    async def _check(self, call: NodeCall[object], caller: str) -> None:
        master = ssconf_master(self.files, self.paths)
        if master is None or master == caller:
            return  # its own former terms are refused later
        if not self._takes_over(call, caller):
            if caller not in self._refused:
                self._refused.add(caller)
                log.warn("{caller} is refused as a master; {master} is the master here", caller=caller, master=master)
            raise AnotherIsMaster(
                f"{call.name} of {caller} was refused: this node follows another master, {master}; if {caller} shall be the "
                "master, run 'gnt-cluster master-failover' on it"
            )
        log.info("{caller} is the master now, after {master}", caller=caller, master=master)
        self._refused.discard(caller)
        if master == self.own_name:
            await self.dethrone()

    def _takes_over(self, call: NodeCall[object], caller: str) -> bool:
        """Whether the caller is the master, or becomes it by this call, though simple configuration names another one.

        It is when something of its term has come, but its simple configuration has not yet.
        """
        held = self.terms.latest
        stamp: Stamp | None = getattr(call, "stamp", None)
        if held is None or (stamp is not None and stamp.cluster != held.cluster):
            ballot = own_ballot(self.files, self.paths)
            return ballot.master == caller or names(call, caller, ballot.newest)
        if stamp is None or stamp.term < held.number:
            return False
        return held.master == caller or (stamp.term > held.number and names(call, caller))


def sender(call: NodeCall[object], caller: str | None) -> str:
    """Who sends what only a master may send. @raise UnknownCaller: nobody knows, or the stamp is another's."""
    if caller is None:
        raise UnknownCaller(f"{call.name} was refused: its caller is not known")
    stamp: Stamp | None = getattr(call, "stamp", None)
    if stamp is not None and stamp.master != caller:
        raise UnknownCaller(f"{call.name} of {caller} was refused: it has the stamp of {stamp.master}")
    return caller


def names(call: NodeCall[object], caller: str, newest: int = -1) -> bool:
    """Whether a call names its sender as the master, in something that is newer than a serial number."""
    match call:
        case WriteSsconfFiles(values=values, serial=int(serial)):
            named = values.get("master_node")
        case UploadFile(serial=int(serial), data=data) if call.path == str(Paths().config_file):
            head = read_head(data)
            named = None if head is None or head.serial_no != serial else head.master
        case WriteRapiFiles(serial=int(serial), stamp=Stamp(master=named)):
            pass  # they come before the configuration that they belong to, with its serial number
        case _:
            return False
    return named == caller and serial > newest
