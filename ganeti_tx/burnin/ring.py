"""Which node is next: instances are spread over the nodes, and each goes its way around them."""

from collections.abc import Collection, Sequence

from attrs import frozen

from ganeti_tx.errors import OpExecError


@frozen
class Ring:
    """The nodes that a burnin uses, in their order."""

    nodes: Sequence[str]

    def first(self, number: int, count: int) -> list[str]:
        """Different nodes for a new instance; those of the next one begin one further."""
        return [self.nodes[(number + step) % len(self.nodes)] for step in range(count)]

    def from_(self, node: str, count: int) -> list[str]:
        """So many nodes, of which this is the first."""
        return self.first(self.nodes.index(node), count)

    def after(self, node: str, without: Collection[str] = ()) -> str:
        """The node behind another one that is none of some. @raise OpExecError: there is none."""
        begin = self.nodes.index(node) if node in self.nodes else -1
        for step in range(1, len(self.nodes) + 1):
            found = self.nodes[(begin + step) % len(self.nodes)]
            if found != node and found not in without:
                return found
        raise OpExecError(f"there is no node besides {', '.join(sorted({node, *without}))}")
