"""What every node call has: a name, a type of answer, who may send it, a time limit, sizes, and what it has for itself."""

from collections.abc import Iterable
from enum import Enum
from typing import ClassVar, Generic, TypeVar, cast, get_args, get_origin

import msgspec

from ganeti_tx.model.stamp import Stamp

MiB = 1024 * 1024

#: Time-out classes in seconds.
URGENT = 60.0
FAST = 300.0
NORMAL = 900.0
SLOW = 3600.0
ONE_DAY = 86400.0

R = TypeVar("R", covariant=True)


class Sender(Enum):
    """Who may send a call. Nobody else than a master candidate gets through to a node at all."""

    MASTER = "the master of the present term, which the call's stamp shows"
    CANDIDATE = "any master candidate"


class NodeCall(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """A call with its arguments, whose answer is an R. Sizes are bytes of the encoded body.

    A class that declares nothing acts on its node, so that only the master may send it.
    """

    name: ClassVar[str]
    #: A class that says CANDIDATE, and is no Question, says why.
    sender: ClassVar[Sender] = Sender.MASTER
    #: Whether a job that is stopped may leave the call in its midst: it may take long, and leaves nothing behind.
    abandonable: ClassVar[bool] = False
    #: Whether it needs what is secret of disks, which undos do not have, so that it is filled in before they are done.
    needs_secrets: ClassVar[bool] = False
    #: Whether what the node has on its disk decides about it; one that does not still works when that cannot be read any more.
    needs_disk: ClassVar[bool] = True
    #: Whether each text of its answer is within a line, as people may be told it: the end of a line in one arrives as \n.
    #: A class whose answer has what a program said, or reads, says no.
    in_lines: ClassVar[bool] = True
    timeout: ClassVar[float] = NORMAL
    max_request: ClassVar[int] = 4 * MiB
    max_response: ClassVar[int] = 16 * MiB

    #: From which master it comes, and when it was sent.
    stamp: Stamp | None = None

    def reserves(self) -> Iterable[str]:
        """What the call has for itself while it is done. Calls for the same thing are done in the order of their stamps."""
        return ()

    def time_limit(self) -> float:
        """Seconds after which the caller gives up."""
        return self.timeout

    @classmethod
    def result(cls) -> type[R]:
        """The type of the answer, R, as msgspec takes it. @raise TypeError: the class does not say."""
        for base in cls.__dict__.get("__orig_bases__", ()):
            given = get_args(base)
            if isinstance(get_origin(base), type) and issubclass(get_origin(base), NodeCall) and given:
                return cast(type[R], type(None) if given[0] is None else given[0])
        raise TypeError(f"{cls.__name__} does not say what it answers: class {cls.__name__}(NodeCall[...])")


class Question(NodeCall[R], frozen=True, kw_only=True):
    """A call that changes nothing on its node: every candidate may ask."""

    sender: ClassVar[Sender] = Sender.CANDIDATE


class Claim(NodeCall[R], frozen=True, kw_only=True):
    """A call by which its sender may become the master that the node follows."""

    def claims(self) -> tuple[str | None, int]:
        """The master that the content names, and the serial number of its configuration; nobody (-1) when it tells of none."""
        raise NotImplementedError
