"""Where and how a JSON object is not the opcode it claims to be, in one line for a person."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import inspect

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.private import Hidden

LONGEST_VALUE = 60
"""Characters of an offending value that are shown."""

FAULT = re.compile(r"(?P<text>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
STEP = re.compile(r"\.(?P<name>\w+)|\[(?P<index>\d+)\]|(?P<some>\[\.\.\.\])")
FIELD = re.compile(r"Object (?:missing required|contains unknown) field `(?P<name>.*)`", re.DOTALL)

#: One way down into a value: a parameter, an index, the key of a dict, or None for a value the decoder did not name.
Step = str | int | None
Check = Callable[[object, Any], object]


def describe_fault(kind: type[OpCode], raw: Mapping[str, Any], error: msgspec.ValidationError, check: Check) -> str:
    """Such as: OP_INSTANCE_CREATE.disks[0].size: expected int | str, got null.

    @param check: converts a value to a type, to find out which of many values is at fault.
    """
    found = FAULT.fullmatch(str(error))
    text, path, at_key = (found["text"], found["path"] or "", bool(found["key"])) if found else (str(error), "", False)
    field = FIELD.fullmatch(text)
    if field is not None:
        problem = "unknown" if "unknown" in text else "missing"
        return f"{kind.op_id()}{path}: {problem} parameter '{short(field['name'])}'"
    steps = named_steps(kind, raw, path, text, check)
    return f"{kind.op_id()}{''.join(map(written, steps))}: {problem_of(kind, raw, text, steps, at_key)}"


def named_steps(kind: type[OpCode], raw: Mapping[str, Any], path: str, text: str, check: Check) -> list[Step]:
    """The path in steps, with the keys that the decoder leaves out found by trying each alone."""
    steps: list[Step] = []
    for match in STEP.finditer(path):
        step: Step = match["name"] or (int(match["index"]) if match["index"] else None)
        steps.append(guilty_key(kind, raw, steps, text, check) if step is None else step)
    return steps


def guilty_key(kind: type[OpCode], raw: Mapping[str, Any], steps: list[Step], text: str, check: Check) -> str | None:
    """The first key of the dict at C{steps} whose value brings the same complaint, found by halving: there may be many."""
    holder = value_at(raw, steps)
    types = {field.name: field.type for field in msgspec.structs.fields(kind)}
    if not isinstance(holder, dict):
        return None

    def complained_of(keys: Sequence[str]) -> bool:
        part = {key: holder[key] for key in keys}
        try:
            check(narrowed(raw[str(steps[0])], steps[1:], part), types[str(steps[0])])
        except msgspec.ValidationError as error:
            return str(error).startswith(text)
        return False

    keys = list(holder)
    while len(keys) > 1:
        first, rest = keys[: len(keys) // 2], keys[len(keys) // 2 :]
        keys = first if complained_of(first) else rest
    return str(keys[0]) if keys and complained_of(keys) else None


def narrowed(value: Any, steps: list[Step], replacement: object) -> object:
    """The value with what stands at C{steps} replaced; lists keep their other items, dicts only the one on the way."""
    if not steps:
        return replacement
    inner = narrowed(value[steps[0]], steps[1:], replacement)
    if isinstance(steps[0], int):
        return [*value[: steps[0]], inner, *value[steps[0] + 1 :]]
    return {steps[0]: inner}


def value_at(raw: Any, steps: list[Step]) -> Any:
    """What stands at C{steps}."""
    for step in steps:
        if step is None:
            return None
        raw = raw[step]
    return raw


def written(step: Step) -> str:
    """One step of a path as a person reads it."""
    return f"[{step}]" if isinstance(step, int) else f".{'...' if step is None else short(step)}"


def problem_of(kind: type[OpCode], raw: Mapping[str, Any], text: str, steps: list[Step], at_key: bool) -> str:
    """What is allowed there, and what stands there instead; the value is left out where it may be a secret."""
    plain = text.replace("`", "")
    what = type_at(kind, steps)
    if at_key:
        what = key_type(what)
    words = allowed_words(what)
    if words is not None:
        plain = f"expected one of {', '.join(map(str, words))}"
    elif plain.startswith("Expected"):
        plain = "e" + plain[1:]
    if at_key:
        return f"wrong key: {plain}" + (f", got {plain_key(text)}" if words is not None else "")
    if not steps or None in steps or hides(field_type(kind, steps)) or "got '" in plain:
        return plain
    return f"{plain.split(', got ')[0]}, got {short_json(value_at(raw, steps))}"


def plain_key(text: str) -> str:
    """The key that the decoder quotes."""
    return short(text.removeprefix("Invalid enum value "))


def key_type(what: inspect.Type | None) -> inspect.Type | None:
    """The type of the keys of a dict, which may be optional."""
    match what:
        case inspect.DictType():
            return what.key_type
        case inspect.UnionType(types):
            return next((key for one in types if (key := key_type(one)) is not None), None)
    return None


def allowed_words(what: inspect.Type | None) -> tuple[object, ...] | None:
    """The closed set of values of a type, if it is one."""
    match what:
        case inspect.EnumType(cls):
            return tuple(member.value for member in cls)
        case inspect.LiteralType(values):
            return values
        case inspect.UnionType(types):
            inner = [words for one in types if (words := allowed_words(one)) is not None]
            return inner[0] if len(inner) == 1 and len(types) == 2 and inspect.NoneType() in types else None
    return None


def field_type(kind: type[OpCode], steps: list[Step]) -> inspect.Type | None:
    """The declared type of the parameter on the path."""
    return type_at(kind, steps[:1])


def type_at(kind: type[OpCode], steps: list[Step]) -> inspect.Type | None:
    """The declared type at C{steps}, as far as there is only one."""
    what: inspect.Type | None = inspect.type_info(kind)
    for step in steps:
        what = inner_type(what, step)
    return what


def inner_type(what: inspect.Type | None, step: Step) -> inspect.Type | None:
    """The type one step below."""
    match what:
        case inspect.UnionType(types):
            below = [inner for one in types if (inner := inner_type(one, step)) is not None]
            return below[0] if len(below) == 1 else None
        case inspect.StructType() if isinstance(step, int) and step < len(what.fields):
            return what.fields[step].type
        case inspect.StructType():
            return next((field.type for field in what.fields if field.name == step), None)
        case inspect.DictType():
            return what.value_type if not isinstance(step, int) else None
        case inspect.TupleType(types) if isinstance(step, int) and step < len(types):
            return types[step]
        case inspect.VarTupleType() | inspect.FrozenSetType() if isinstance(step, int):
            return what.item_type
    return None


def hides(what: inspect.Type | None) -> bool:
    """Whether values of a type may be secret."""
    match what:
        case inspect.CustomType(cls):
            return issubclass(cls, Hidden)
        case inspect.DictType():
            return hides(what.value_type)
        case inspect.UnionType(types):
            return any(map(hides, types))
        case inspect.VarTupleType():
            return hides(what.item_type)
        case inspect.StructType():
            return any(hides(field.type) for field in what.fields)
    return False


def short(text: str) -> str:
    """A text cut to what fits in a line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_VALUE else line[: LONGEST_VALUE - 3] + "..."


def short_json(value: object) -> str:
    """A value as it came, cut to what fits in a line."""
    return short(json.dumps(value, default=str))
