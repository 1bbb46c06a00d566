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
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.answers import Method
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.base import Claim, NodeCall, Sender
from ganeti_tx.rpc.refusals import AnotherIsMaster, NoStamp, UnknownCaller
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths

log = Logger()


@define
class MasterGuard:
    """Admits the calls of the master, and a new master. `stop_master_daemons` stops the master daemons of this node."""

    files: IFiles
    paths: Paths
    own_name: str
    terms: Terms
    stop_master_daemons: Callable[[], Awaitable[None]]
    #: The stamp of the last call that was admitted by what is on the disk.
    _last: Stamp | None = None
    _refused: set[str] = field(factory=set)
    _lock: DeferredLock = field(factory=DeferredLock)

    async def perform(self, call: NodeCall[object], caller: str | None, method: Method) -> Any:
        """Do a call by its method. A caller of None is not known, and nobody's master.

        @raise CallRefused: this node follows another master than the caller, or the caller is not who it says.
        """
        if call.sender is not Sender.MASTER:
            return await method(call)
        stamp = stamp_of(call, caller)
        if not isinstance(call, Claim):
            await self._check(call, stamp)
            return await method(call)
        await self._lock.acquire()  # of two new masters at the same time one is refused
        try:
            await self._check(call, stamp)
            return await method(call)
        finally:
            self._lock.release()

    async def _check(self, call: NodeCall[object], stamp: Stamp) -> None:
        """@raise CallRefused: as `perform`. @raise OSError: the disk does not say, and the call is not one that goes without."""
        try:
            await self._check_files(call, stamp)
        except OSError as error:
            if call.needs_disk or not self._was_master(stamp):
                raise
            log.error(
                "{call} of {caller} is done although {why}", call=call.name, caller=stamp.master, why=reason(error)
            )
        else:
            self._last = stamp

    def _was_master(self, stamp: Stamp) -> bool:
        """Whether a stamp is of the master of before. A term by itself shows nothing: any candidate can count one further."""
        last = self._last
        return (
            last is not None
            and (last.cluster, last.master) == (stamp.cluster, stamp.master)
            and last.term <= stamp.term
        )

    async def _check_files(self, call: NodeCall[object], stamp: Stamp) -> None:
        caller, master = stamp.master, ssconf_master(self.files, self.paths)
        if master != caller and not self._takes_over(call, stamp):
            raise self._refusal(call, caller, master or self._master_of_term())
        self.terms.check(stamp)
        if master in (None, caller):
            return
        log.info("{caller} is the master now, after {master}", caller=caller, master=master)
        self._refused.discard(caller)
        if master == self.own_name:
            await self.stop_master_daemons()

    def _refusal(self, call: NodeCall[object], caller: str, master: str) -> AnotherIsMaster:
        """Said in the log once, and to the caller each time."""
        if caller not in self._refused:
            self._refused.add(caller)
            log.warn("{caller} is refused as a master; {master} is the master here", caller=caller, master=master)
        return AnotherIsMaster(
            f"{call.name} of {caller} was refused: this node follows another master, {master}; if {caller} shall be the "
            "master, run 'gnt-cluster master-failover' on it"
        )

    def _master_of_term(self) -> str:
        held = self.terms.latest
        return "" if held is None else held.master

    def _takes_over(self, call: NodeCall[object], stamp: Stamp) -> bool:
        """Whether the caller is the master, or becomes it by this call, though simple configuration names another one.

        It is when something of its term has come, but its simple configuration has not yet.
        """
        held = self.terms.latest
        if held is None and ssconf_master(self.files, self.paths) is None:
            return True  # a node that knows nobody
        if held is None or stamp.cluster != held.cluster:
            ballot = own_ballot(self.files, self.paths)
            return ballot.master == stamp.master or names_its_sender(call, stamp, ballot.newest)
        if stamp.term < held.number:
            return False
        return held.master == stamp.master or (stamp.term > held.number and names_its_sender(call, stamp))


def stamp_of(call: NodeCall[object], caller: str | None) -> Stamp:
    """The stamp of what only a master may send.

    @raise UnknownCaller: nobody knows the caller, or the stamp is not its own. @raise NoStamp: there is none.
    """
    if caller is None:
        raise UnknownCaller(f"{call.name} was refused: its caller is not known")
    if call.stamp is None:
        raise NoStamp(
            f"{call.name} of {caller} was refused: only a master may send it, and it has no stamp of one; an older version "
            "of this program sends none: install the same on all nodes"
        )
    if call.stamp.master != caller:
        raise UnknownCaller(f"{call.name} of {caller} was refused: it has the stamp of {call.stamp.master}")
    return call.stamp


def names_its_sender(call: NodeCall[object], stamp: Stamp, newest: int = -1) -> bool:
    """Whether a call names its sender as the master, in something that is newer than a serial number."""
    master, serial = call.claims() if isinstance(call, Claim) else (None, -1)
    return master == stamp.master and serial > newest
