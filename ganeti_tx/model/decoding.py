"""Decoding with the exact path of what is wrong: "instances.UUID.nics[0].mac: ..."."""

import re
from typing import Any, TypeVar

import msgspec

from ganeti_tx.errors import ConfigurationError, GenericError

T = TypeVar("T")
STEP = re.compile(r"\.([^.`\[\]]+)|\[(\d+|\.\.\.)\]")
LACKING = re.compile(r"Object missing required field `(.+)`")
UNKNOWN = re.compile(r"Object contains unknown field `(.+)`")
#: The decoder's word for a key of a mapping, which it does not name.
SOME_KEY = "..."


def read_json(data: bytes) -> Any:
    """JSON text as dicts and lists. @raise ConfigurationError: it is no JSON."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"not JSON: {error}") from None


def from_builtins(raw: Any, kind: type[T], refusal: type[GenericError] = ConfigurationError, root: str = "") -> T:
    """The value made of dicts and lists, which a failure cuts down in place.

    @raise refusal: the path (below C{root}) of the first offending key, and what is wrong.
    """
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        raise refusal(located(raw, kind, str(error), root)) from None


def located(raw: Any, kind: type[Any], message: str, root: str = "") -> str:
    """The decoder's message with its path in front and the nameless keys of mappings found out."""
    text, _, where = message.partition(" - at ")
    on_key = where.startswith(("`key", "key"))
    steps = steps_of(where)
    for place, step in enumerate(steps):
        if step == SOME_KEY:
            steps[place] = offending_key(raw, steps[:place], kind, message)
    if on_key:
        mapping = follow(raw, steps)
        steps.append(next((key for key in mapping if not fits(raw, steps, {key: mapping[key]}, kind)), SOME_KEY))
    return f"{path_of(root, [*steps, *inner_field(text)])}: {plainly(text)}"


def steps_of(where: str) -> list[str | int]:
    """The parts of a decoder's path "$.a[...].b[0]"."""
    return [name or (SOME_KEY if index == SOME_KEY else int(index)) for name, index in STEP.findall(where)]


def offending_key(raw: Any, steps: list[str | int], kind: type[Any], message: str) -> str:
    """Which key of the mapping at some place causes the message: halve the mapping until one key is left."""
    holder, last = follow(raw, steps[:-1]), steps[-1] if steps else None
    mapping: dict[str, Any] = dict(follow(raw, steps))
    while len(mapping) > 1:
        keys = list(mapping)
        half = {key: mapping[key] for key in keys[: len(keys) // 2]}
        rest = {key: mapping[key] for key in keys[len(keys) // 2 :]}
        mapping = half if complaint(put(raw, holder, last, half), kind) == message else rest
    put(raw, holder, last, mapping)
    return next(iter(mapping), SOME_KEY)


def put(raw: Any, holder: Any, last: str | int | None, part: dict[str, Any]) -> Any:
    """The whole with one mapping in it exchanged, in place; the part itself when it is the whole."""
    if last is None:
        raw.clear()
        raw.update(part)
    else:
        holder[last] = part
    return raw


def complaint(raw: Any, kind: type[Any]) -> str | None:
    """What the decoder says."""
    try:
        msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        return str(error)
    return None


def fits(raw: Any, steps: list[str | int], part: dict[str, Any], kind: type[Any]) -> bool:
    """Whether the whole is well with only this part at some place."""
    return complaint(put(raw, follow(raw, steps[:-1]), steps[-1] if steps else None, part), kind) is None


def follow(raw: Any, steps: list[str | int]) -> Any:
    """What lies at a place."""
    for step in steps:
        raw = raw[step]
    return raw


def inner_field(text: str) -> list[str]:
    """The field that a message names as lacking or unknown; it belongs to the path."""
    match = LACKING.match(text) or UNKNOWN.match(text)
    return [match.group(1)] if match else []


def plainly(text: str) -> str:
    """A message about a field without the field, which the path names already."""
    if LACKING.match(text):
        return "missing"
    if UNKNOWN.match(text):
        return "unknown key"
    return text[:1].lower() + text[1:]


def path_of(root: str, steps: list[str | int]) -> str:
    """A place for people; the whole is "configuration"."""
    path = root + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return path.removeprefix(".") or "configuration"
