"""What goes over the wire, independent of how: requests and replies as values, and the steps of a call."""

from collections.abc import Generator, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

from attrs import field, frozen

T_co = TypeVar("T_co", covariant=True)


@frozen
class Message:
    """One HTTP request, short of what concerns the connection and who makes it."""

    method: str
    #: Path and query, percent-encoded.
    target: str
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    #: Whether it may be sent again when nobody knows if it arrived.
    safe: bool = False


@frozen
class Reply:
    """One HTTP response."""

    status: int
    #: By lower-case name.
    headers: Mapping[str, str] = field(factory=dict)
    body: bytes = b""


@frozen
class Pause:
    """Nothing is sent for so many seconds."""

    seconds: float


@frozen
class Now:
    """Nothing is sent; what is sent in is the time in seconds of a clock that only goes forward."""


Step: TypeAlias = Message | Pause | Now


class Action(Protocol[T_co]):
    """Something that clients do, without any I/O."""

    def steps(self) -> Generator[Step, Any, T_co]:
        """Each step that is to be taken; the reply to each message is sent in. Its return value is the result.

        @raise GanetiError: what the caller of a client gets.
        """
