"""Whom this node follows: configuration, simple configuration and the job queue come from one master only.

The master is the one of simple configuration. A node follows another one when that one sends a configuration, or simple
configuration made from one, that is newer than all this node has seen and names its sender as the master. So a master that
was cut off while another took over is refused when it comes back.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from attrs import define, field
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.mastership.own_ballot import own_ballot, read_head, ssconf_master
from ganeti_tx.node.dispatch import Method
from ganeti_tx.rpc.calls import (
    JobqueuePurge,
    JobqueueRename,
    JobqueueSetDrainFlag,
    JobqueueSweep,
    JobqueueUpdate,
    NodeCall,
    NodeDemoteFromMc,
    UploadFile,
    WriteSsconfFiles,
)
from ganeti_tx.rpc.interfaces import FOLLOWS_ANOTHER
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

#: What only the master may send.
GUARDED = (
    UploadFile,
    WriteSsconfFiles,
    JobqueueUpdate,
    JobqueueRename,
    JobqueueSweep,
    JobqueuePurge,
    JobqueueSetDrainFlag,
    NodeDemoteFromMc,
)
#: By which it may become the master.
CLAIMING = (UploadFile, WriteSsconfFiles)


@define
class Allegiance:
    """Admits the calls of the master, and a new master. `dethrone` stops the master daemons of this node."""

    files: IFiles
    paths: Paths
    own_name: str
    dethrone: Callable[[], Awaitable[None]]
    _refused: set[str] = field(factory=set)
    _turn: DeferredLock = field(factory=DeferredLock)

    async def perform(self, call: NodeCall, caller: str | None, method: Method) -> Any:
        """Do a call by its method. A caller of None is not known, and may everything.

        @raise ConfigurationError: this node follows another master than the caller.
        """
        if caller is None or not isinstance(call, GUARDED):
            return await method(call)
        if not isinstance(call, CLAIMING):
            await self._check(call, caller)
            return await method(call)
        await self._turn.acquire()  # of two new masters at the same time one is refused
        try:
            await self._check(call, caller)
            return await method(call)
        finally:
            self._turn.release()

    async def _check(self, call: NodeCall, caller: str) -> None:
        master = ssconf_master(self.files, self.paths)
        if master is None or master == caller:
            return
        ballot = own_ballot(self.files, self.paths)
        if ballot.master == caller:  # its configuration has come, its simple configuration has not yet
            return
        if not is_new_master(call, caller, ballot.newest):
            if caller not in self._refused:
                self._refused.add(caller)
                log.warn("{caller} is refused as a master; {master} is the master here", caller=caller, master=master)
            raise ConfigurationError(
                f"{call.name} of {caller} was refused: this node {FOLLOWS_ANOTHER}, {master}; if {caller} shall be the "
                "master, run 'gnt-cluster master-failover' on it"
            )
        log.info("{caller} is the master now, after {master}", caller=caller, master=master)
        self._refused.discard(caller)
        if master == self.own_name:
            await self.dethrone()


def is_new_master(call: NodeCall, caller: str, newest: int) -> bool:
    """Whether the call makes its sender the master by something newer than the newest that is here."""
    match call:
        case WriteSsconfFiles(values=values, serial=int(serial)):
            named = values.get("master_node")
        case UploadFile(serial=int(serial), data=data) if call.path == str(Paths().config_file):
            head = read_head(data)
            named = None if head is None or head.serial_no != serial else head.master
        case _:
            return False
    return named == caller and serial > newest
