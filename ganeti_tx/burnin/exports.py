"""The exports that a burnin has made itself; all others are somebody else's, whatever their names are."""

from collections.abc import Mapping, Sequence

from attrs import define, field

from ganeti_tx.burnin.instances import Instances, is_named, rows
from ganeti_tx.burnin.operations import EXPORT, REMOVE_EXPORT, Part
from ganeti_tx.luxi.client import Client


def exports(client: Client) -> list[tuple[str, str]]:
    """The name of each, and the node that has it."""
    return [(name, node) for name, node in rows(client, "export", ["export", "node"]) if name is not None]


@define
class Exports:
    """What is known of each stands here from the moment that its job is submitted until it is removed."""

    client: Client
    instances: Instances
    #: By the full names of instances, the nodes that have them.
    _made: dict[str, str] = field(factory=dict)

    def why_not(self, parts: Sequence[Part]) -> str:
        """Why a job must not be submitted, or nothing: it would replace what somebody else has exported."""
        names = _names(parts, EXPORT)
        taken = [_told(*each) for each in (exports(self.client) if names else ()) if each[0] in names]
        return f"this burnin has not made {', '.join(taken)}, and would replace it" if taken else ""

    def submitted(self, parts: Sequence[Part]) -> None:
        """A job has been submitted."""
        self._made.update({name: part.op["target_node"] for part in parts for name in _names([part], EXPORT)})

    def done(self, parts: Sequence[Part]) -> None:
        """A job has been done in full."""
        for name in _names(parts, REMOVE_EXPORT):
            self._made.pop(name, None)

    def removable(self) -> list[str]:
        """The names of those that are there, and can be removed without anything else."""
        return [name for name, why in self._own().items() if not why]

    def left(self) -> list[str]:
        """Those that are there, each with what keeps it from being removed."""
        return [_told(name, self._made[name]) + (f" ({why})" if why else "") for name, why in self._own().items()]

    def of_others(self) -> list[str]:
        """Those that this burnin has not made, though they have a name that it uses."""
        names = [*self.instances.names, *self._made]
        others = [each for each in exports(self.client) if each not in self._made.items()]
        return [_told(*each) for each in sorted(others) if any(is_named(each[0], name) for name in names)]

    def _own(self) -> Mapping[str, str]:
        """Why each that is there must stay, or nothing: a removal takes all of a name, on all nodes."""
        if not self._made:
            return {}
        there = exports(self.client)
        foreign = {name for (name,) in rows(self.client, "instance", ["name"])} - {*self.instances.names_left()}
        return {each[0]: self._why_kept(each, there, foreign) for each in sorted(self._made.items()) if each in there}

    @staticmethod
    def _why_kept(own: tuple[str, str], there: Sequence[tuple[str, str]], foreign: set[str]) -> str:
        name, node = own
        if nodes := [other for each, other in there if each == name and other != node]:
            return f"not removed: {', '.join(nodes)} would lose one of that name, which this burnin has not made"
        return "not removed: somebody else has an instance of that name now" if name in foreign else ""


def _names(parts: Sequence[Part], op_id: str) -> list[str]:
    return [part.op["instance_name"] for part in parts if part.op["OP_ID"] == op_id]


def _told(name: str, node: str) -> str:
    return f"export {name} on {node}"
