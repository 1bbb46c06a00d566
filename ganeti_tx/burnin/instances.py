"""The instances of a burnin, as the cluster has them: they are known by a tag that no other burnin has."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from attrs import define, field, frozen

from ganeti_tx.errors import OpExecError
from ganeti_tx.luxi.client import Client

TAG = "burnin:"
RUNNING = "running"
FIELDS = ("name", "pnode", "snodes", "disk.count", "nic.count")


@frozen(kw_only=True)
class Burned:
    """One instance, with the nodes that it has now; `number` is its place on the command line, from 0."""

    name: str
    number: int
    primary: str
    secondaries: Sequence[str] = ()
    disks: int = 0
    nics: int = 0

    @property
    def nodes(self) -> tuple[str, ...]:
        """All that have something of it."""
        return (self.primary, *self.secondaries)


@define
class Instances:
    """Those that are to be made, and what has become of them."""

    client: Client
    names: Sequence[str]
    tag: str = field(factory=lambda: f"{TAG}{uuid4()}")

    def known(self) -> list[Burned]:
        """Those that there are, in the order of the command line. @raise OpExecError: one of them is not there."""
        found = {row[0]: row for row in self._own(FIELDS)}
        return [self._known(number, typed, found) for number, typed in enumerate(self.names)]

    def names_left(self) -> list[str]:
        """Of whatever there is of this burnin, by their present names."""
        return sorted(row[0] for row in self._own(["name"]))

    def statuses(self) -> dict[str, str]:
        """By name, as the nodes tell them."""
        return dict(self._own(["name", "status"]))

    def _own(self, fields: Sequence[str]) -> list[list[Any]]:
        return rows(self.client, "instance", fields, ["=[]", "tags", self.tag])

    @staticmethod
    def _known(number: int, typed: str, found: Mapping[str, Sequence[Any]]) -> Burned:
        row = next((row for name, row in found.items() if is_named(name, typed)), None)
        if row is None:
            raise OpExecError(f"instance {typed} is not there any more; somebody else has renamed or removed it")
        name, primary, secondaries, disks, nics = row
        return Burned(name=name, number=number, primary=primary, secondaries=secondaries, disks=disks, nics=nics)


def is_named(name: str, typed: str) -> bool:
    """Whether a full name is what was typed, or begins with it."""
    return name == typed or name.startswith(f"{typed}.")


def rows(client: Client, resource: str, fields: Sequence[str], wanted: list[Any] | None = None) -> list[list[Any]]:
    """The values of a query, without what is known of each; what is not known is None."""
    return [[value for _, value in row] for row in client.query(resource, fields, wanted)["data"]]
