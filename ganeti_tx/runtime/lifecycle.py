"""Where something is on its way, by a table of what may follow what; any other step is a fault of ours."""

from collections.abc import Collection, Mapping
from typing import Generic, TypeVar

from attrs import define

S = TypeVar("S")


class IllegalTransition(Exception):
    """What is in one state cannot come into the other."""


@define(eq=False)
class Lifecycle(Generic[S]):
    """One state of a table that names for each those that may follow."""

    following: Mapping[S, Collection[S]]
    state: S

    def enter(self, state: S) -> None:
        """Go on to a state. @raise IllegalTransition: it cannot follow the present one, which stays."""
        if state not in self.following[self.state]:
            raise IllegalTransition(f"{state} cannot follow {self.state}")
        self.state = state
