"""What every node call has: a name, a type of answer, a time limit, and sizes."""

from typing import ClassVar, Generic, TypeVar, cast, get_args, get_origin

import msgspec

MiB = 1024 * 1024

#: Time-out classes in seconds.
URGENT = 60.0
FAST = 300.0
NORMAL = 900.0
SLOW = 3600.0
ONE_DAY = 86400.0

R = TypeVar("R", covariant=True)


class NodeCall(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """A call with its arguments, whose answer is an R. Sizes are bytes of the encoded body."""

    name: ClassVar[str]
    timeout: ClassVar[float] = NORMAL
    max_request: ClassVar[int] = 4 * MiB
    max_response: ClassVar[int] = 16 * MiB

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
