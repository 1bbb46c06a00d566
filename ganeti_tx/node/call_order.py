"""Calls that change the same thing are done in the order in which they were sent, whenever they come."""

from attrs import define, field

from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.refusals import AnotherIsMaster, CallTooLate

#: Of so many things the last call is remembered.
MAX_NAMES = 20_000


@define
class CallOrder:
    """The last call for each of several things, by name. Memory is enough: what is on its way to a daemon ends with it."""

    terms: Terms
    _latest: dict[str, Stamp] = field(factory=dict)

    def take(self, name: str, stamp: Stamp | None) -> None:
        """This call for the thing is about to be done. A call without a stamp is not ordered.

        @raise CallRefused: one that was sent later was done before, or the same, or a later master is known.
        """
        if stamp is None:
            return
        held, before = self.terms.latest, self._latest.get(name)
        if held is not None and held.cluster == stamp.cluster and is_deposed(stamp, held.number, held.master):
            raise AnotherIsMaster(
                f"node {stamp.master} is not the master any more (term {stamp.term}): {held.master} is since term {held.number}"
            )
        if before is not None and before.cluster == stamp.cluster and is_late(stamp, before):
            raise CallTooLate(f"the call comes too late: {name} was changed by one that was sent after it")
        self._latest.pop(name, None)
        self._latest[name] = stamp
        if len(self._latest) > MAX_NAMES:
            del self._latest[next(iter(self._latest))]


def is_deposed(stamp: Stamp, term: int, master: str) -> bool:
    """Whether a stamp is of an earlier master than this one."""
    return stamp.term < term or (stamp.term == term and stamp.master != master)


def is_late(stamp: Stamp, before: Stamp) -> bool:
    """Whether a stamp is of an earlier master than another, or of the same one and not later."""
    return is_deposed(stamp, before.term, before.master) or (
        stamp.term == before.term and stamp.sequence <= before.sequence
    )
