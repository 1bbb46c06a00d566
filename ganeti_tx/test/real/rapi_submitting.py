"""How a call of the stock client is written down that submits a job: what the job must hold, and what is to be seen of it then."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen


@frozen
class Seen:
    """What another method gives once the job has ended: the whole of it, or some of its fields, or of theirs ("a.b")."""

    method: str
    args: Sequence[Any]
    whole: Any = None
    fields: Mapping[str, Any] = field(factory=dict)

    def of(self, given: Any) -> Any:
        """As much of what is given as must be right."""
        return {path: inside(given, path) for path in self.fields} if self.fields else given

    @property
    def right(self) -> Any:
        """What that must be."""
        return dict(self.fields) if self.fields else self.whole


def inside(given: Any, path: str) -> Any:
    """A field, which may have a dot in its name, or a field of a field."""
    if path in given:
        return given[path]
    name, _, rest = path.partition(".")
    return inside(given[name], rest)


@frozen
class Submitting:
    """One call; `fields` are of its opcode, `ended` is how the job must end, None where parts of it may not be there."""

    method: str
    args: Sequence[Any]
    op_id: str
    fields: Mapping[str, Any]
    named: Mapping[str, Any] = field(factory=dict)
    ended: str | None = None
    #: What the work is seen by: what is shown afterwards, and what the job's results must have in them, as JSON.
    then: Sequence[Seen] = ()
    result: re.Pattern[str] | None = None


def shows(method: str, *args: Any, **fields: Any) -> Seen:
    """An object with some fields; "__" stands for "."."""
    return Seen(method, args, None, {name.replace("__", "."): value for name, value in fields.items()})


def gives(whole: Any, method: str, *args: Any) -> Seen:
    """An answer as a whole."""
    return Seen(method, args, whole)


def succeeds(
    method: str,
    *args: Any,
    op: str,
    named: Mapping[str, Any] | None = None,
    then: Sequence[Seen] = (),
    result: str | None = None,
    **fields: Any,
) -> Submitting:
    """A call whose job succeeds."""
    pattern = None if result is None else re.compile(result)
    return Submitting(method, args, op, fields, named or {}, "success", then, pattern)


def becomes(method: str, *args: Any, op: str, named: Mapping[str, Any] | None = None, **fields: Any) -> Submitting:
    """A call whose job may end either way, but never without a reason."""
    return Submitting(method, args, op, fields, named or {})
