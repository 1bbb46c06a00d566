"""Scopes: the instances that somebody is kept to, and how the jobs that he asked for remember it.

The Remote API writes them into the reason trail of each opcode; who runs it judges by them once more, as names may mean others
by then. Whoever forges such an entry keeps himself to less.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from attrs import frozen

#: The entry of a reason trail that says what the job may be about.
SCOPES_SOURCE = "gnt:rapi:scopes"


@frozen
class Scope:
    """Instances that somebody is kept to: those with a tag, or those whose primary node is in a node group."""

    kind: Literal["tag", "group"]
    value: str

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.kind}={self.value}"


@frozen
class Scopes:
    """All that somebody is kept to: what is in one of them is his."""

    every: frozenset[Scope]

    @property
    def tags(self) -> frozenset[str]:
        """The tags."""
        return frozenset(scope.value for scope in self.every if scope.kind == "tag")

    @property
    def groups(self) -> frozenset[str]:
        """The names of node groups."""
        return frozenset(scope.value for scope in self.every if scope.kind == "group")

    def hold(self, tags: Collection[str], group: str | None) -> bool:
        """Whether an instance with these tags, whose primary node is in that group, is in one of them."""
        return not self.tags.isdisjoint(tags) or group in self.groups

    def __str__(self) -> str:
        """As they are written."""
        return ",".join(sorted(map(str, self.every)))


def read_scope(word: str) -> Scope:
    """One, as it is written. @raise ValueError: it is none"""
    kind, _, value = word.partition("=")
    if not value or kind not in ("tag", "group"):
        raise ValueError(f"{word!r} is no scope: write tag=TAG or group=NAME")
    return Scope("tag" if kind == "tag" else "group", value)


def scopes_of(reason: Iterable[Sequence[object]]) -> Iterator[Scopes]:
    """What a reason trail keeps an opcode to. @raise ValueError: that cannot be read"""
    for source, text, *_when in reason:
        if source == SCOPES_SOURCE:
            yield Scopes(frozenset(map(read_scope, str(text).split(","))))
