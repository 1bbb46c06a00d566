"""What a job filter rule asks of a job, read into tests (Ganeti 3.0 query table, filter rules)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from attrs import define, frozen

from ganeti_tx.errors import ECode, OpPrereqError, ParameterError, QueryFilterParseError
from ganeti_tx.model.opcodes import OPCODES, masked
from ganeti_tx.model.signature import SOURCES
from ganeti_tx.query.language.field import MISSING, Field, Getter, Kind, by_name, computed, stored
from ganeti_tx.query.language.filter import AllOf, AnyOf, Comparison, Filter, Not, Parser, brief, count_terms
from ganeti_tx.query.language.pattern import MAX_STEPS, compile_pattern
from ganeti_tx.queue.job import QueuedJob

#: From a job to whether it is meant.
JobTest = Callable[[QueuedJob], bool]

#: One predicate holds no more terms than this.
MAX_TERMS = 1000
#: All patterns of a predicate together must be affordable on a text of so many characters.
USUAL_TEXT = 256
#: Steps that the patterns of a predicate may take on all rows of one job; with more, they do not hold for the other rows.
MAX_JOB_STEPS = 10 * MAX_STEPS
MAX_INTEGER = 2**63 - 1
#: In a predicate over job ids, the highest id that there was when the rule was made.
WATERMARK = "watermark"

_OPCODE_FIELD = re.compile(r"[A-Za-z_]\w*(?:\.\w+){0,10}", re.ASCII)
_MAX_FIELD = 200


def dotted(path: str) -> Getter:
    """What reads, say, `nics.0.network` out of nested objects and lists; MISSING where there is no such thing."""
    parts = path.split(".")

    def read(value: Any) -> Any:
        for part in parts:
            if isinstance(value, dict) and part in value:
                value = value[part]
            elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
                value = value[int(part)]
            else:
                return MISSING
        return value

    return read


class OpcodeFields(Mapping[str, Field]):
    """OP_ID and the parameters of all opcodes; a dot leads into a parameter that is an object or a list."""

    names = frozenset({"OP_ID", *(name for kind in OPCODES.values() for name in kind.__struct_fields__)})

    def __getitem__(self, name: str) -> Field:
        if len(name) > _MAX_FIELD or not _OPCODE_FIELD.fullmatch(name) or name.split(".")[0] not in self.names:
            raise KeyError(name)
        return computed(name, name, Kind.OTHER, "Parameter of an opcode", dotted(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@frozen
class Subject:
    """What one kind of predicate looks at: the rows of a job, of which one must pass, and their fields.

    `types` names the types of the fields' values; an opcode's parameters may be anything. Rules are everybody's to read
    and to try, so the rows hold nothing that may not be seen of a job.
    """

    fields: Mapping[str, Field]
    rows: Callable[[QueuedJob], Iterable[Any]]
    types: Mapping[str, type]
    known: str


def trail_of(given: Mapping[str, Any]) -> list[Any]:
    """The reason trail of an opcode without signatures: whoever makes rules would find out who asked for each job."""
    return [
        entry
        for entry in given.get("reason") or ()
        if not (isinstance(entry, list) and SOURCES & set(map(str, entry[:1])))
    ]


def shown(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What rules see of an opcode."""
    return {**masked(given), **({"reason": trail_of(given)} if given.get("reason") else {})}


SUBJECTS: Mapping[str, Subject] = {
    "jobid": Subject(by_name([stored("id", "ID", Kind.NUMBER, "Job id")]), lambda job: (job,), {"id": int}, "id"),
    "priority": Subject(
        by_name([stored("priority", "Priority", Kind.NUMBER, "Job priority")]),
        lambda job: (job,),
        {"priority": int},
        "priority",
    ),
    "opcode": Subject(
        OpcodeFields(), lambda job: (shown(op.input) for op in job.ops), {}, "OP_ID and the parameters of opcodes"
    ),
    "reason": Subject(
        by_name(
            [
                computed("source", "Source", Kind.TEXT, "Who gave the reason", dotted("0")),
                computed("reason", "Reason", Kind.TEXT, "The reason", dotted("1")),
                computed("timestamp", "Timestamp", Kind.NUMBER, "Nanoseconds since the epoch", dotted("2")),
            ]
        ),
        lambda job: (entry for op in job.ops for entry in trail_of(op.input)),
        {"source": str, "reason": str, "timestamp": int},
        "source, reason, timestamp",
    ),
}


def read_predicate(kind: str, expression: object, watermark: int, most: int = MAX_JOB_STEPS) -> JobTest:
    """Whether a job meets a predicate: one row of its subject passes the expression; null lets every job pass.

    @param most: steps that its patterns may take together on a usual text; a rule that is there already may take more.

    @raise OpPrereqError: there is no such kind of predicate, or the expression is none over its fields (wrong_input).
    """
    subject = SUBJECTS.get(kind)
    if subject is None:
        raise OpPrereqError(f"unknown kind {brief(kind)}; known are {', '.join(SUBJECTS)}", ECode.INVAL)
    if expression is None:
        return lambda job: True
    term = parsed(subject, expression)
    if kind == "jobid":
        term = parsed(subject, with_watermark(expression, watermark))
    for comparison in comparisons(term):
        check_comparison(subject, comparison)
    check_patterns(term, most)
    steps = Steps()
    passes = row_test(term, steps)

    def test(job: QueuedJob) -> bool:
        steps.left = MAX_JOB_STEPS
        return any(passes(row) for row in subject.rows(job))

    return test


@define
class Steps:
    """What the patterns of one predicate may still take on one job: its texts are whatever its submitter liked."""

    left: int = 0

    def take(self, steps: int) -> bool:
        """Whether there are so many left; then they are taken."""
        if steps > self.left:
            return False
        self.left -= steps
        return True


def parsed(subject: Subject, expression: object) -> Filter:
    """The expression. @raise OpPrereqError: it cannot be read, is too large, or names another field."""
    if count_terms(expression) > MAX_TERMS:
        raise OpPrereqError(f"more than {MAX_TERMS} terms", ECode.INVAL)
    try:
        return Parser(subject.fields).parse(expression)
    except (QueryFilterParseError, OpPrereqError) as error:
        more = f"; known are {subject.known}" if isinstance(error, OpPrereqError) else ""
        raise OpPrereqError(f"{error.args[0]}{more}", ECode.INVAL) from None


def with_watermark(expression: Any, watermark: int) -> Any:
    """The expression with a number for the word; its depth has been checked."""
    match expression:
        case [str(sign), str(field), str(value)] if value == WATERMARK:
            return [sign, field, watermark]
        case [str(sign), *operands]:
            return [sign, *(with_watermark(operand, watermark) for operand in operands)]
    return expression


def comparisons(term: Filter) -> Iterator[Comparison]:
    """The leaves of an expression."""
    match term:
        case AllOf(terms) | AnyOf(terms):
            for inner in terms:
                yield from comparisons(inner)
        case Not(inner):
            yield from comparisons(inner)
        case Comparison():
            yield term


def check_comparison(subject: Subject, comparison: Comparison) -> None:
    """@raise OpPrereqError: it could never be true, or takes too long."""
    sign, name, value = comparison.sign, comparison.field.name, comparison.value
    wanted = subject.types.get(name)
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise OpPrereqError(f"field {name!r} {sign} takes integers up to {MAX_INTEGER}", ECode.INVAL)
    if sign != "?" and wanted is not None and not isinstance(value, wanted):
        word = "an integer" if wanted is int else "a string"
        also = f" or {WATERMARK!r}" if name == "id" else ""
        raise OpPrereqError(f"field {name!r} {sign} takes {word}{also}, not {brief(value)}", ECode.INVAL)
    if wanted is not None and (sign == "=[]" or (sign == "=~" and wanted is int)):
        raise OpPrereqError(f"operator {sign} is not for field {name!r}, which holds one value", ECode.INVAL)


def check_patterns(term: Filter, most: int) -> None:
    """@raise OpPrereqError: the patterns take more than `most` steps, as they are asked each time that a job may start."""
    steps = 0
    for comparison in comparisons(term):
        if comparison.sign == "=~" and isinstance(comparison.value, str):
            steps += compile_pattern(comparison.value).steps(USUAL_TEXT)
            if steps > most:
                text = f"regular expression {brief(comparison.value)} is too costly, or those before it are"
                raise OpPrereqError(f"{text}; use fewer of * and + and |", ECode.INVAL)


def row_test(term: Filter, steps: Steps) -> Callable[[Any], bool]:
    """Yes or no for every row: a comparison with what is not there, or is of another type, does not hold."""
    match term:
        case AllOf(terms):
            inner = [row_test(each, steps) for each in terms]
            return lambda row: all(test(row) for test in inner)
        case AnyOf(terms):
            inner = [row_test(each, steps) for each in terms]
            return lambda row: any(test(row) for test in inner)
        case Not(negated):
            test = row_test(negated, steps)
            return lambda row: not test(row)
        case Comparison():
            return leaf_test(term, steps)
    raise AssertionError(f"no term of a filter: {type(term).__name__}")


def leaf_test(comparison: Comparison, steps: Steps) -> Callable[[Any], bool]:
    """As row_test says."""
    read, predicate = comparison.field.bind(None), comparison.predicate
    pattern = compile_pattern(str(comparison.value)) if comparison.sign == "=~" else None

    def test(row: Any) -> bool:
        value = read(row)
        if value is MISSING:
            return False
        if pattern is not None and isinstance(value, str) and not steps.take(pattern.steps(len(value))):
            return False
        try:
            return predicate(value)
        except ParameterError:
            return False

    return test


def check_predicates(predicates: Sequence[object]) -> tuple[tuple[str, object], ...]:
    """The predicates of a new rule. @raise OpPrereqError: one is wrong; the text says which, and why (wrong_input)."""
    checked: list[tuple[str, object]] = []
    for index, predicate in enumerate(predicates):
        match predicate:
            case [str(kind), expression]:
                checked.append((kind, expression))
            case _:
                shape = f"a pair of {', '.join(SUBJECTS)} and an expression"
                shown = msgspec.json.encode(predicate).decode()[:100]
                raise OpPrereqError(f"predicates[{index}]: {shown} is not {shape}", ECode.INVAL)
        try:
            read_predicate(kind, expression, 0, MAX_STEPS)
        except OpPrereqError as error:
            raise OpPrereqError(f"predicates[{index}] ({kind[:40]}): {error.args[0]}", ECode.INVAL) from None
    return tuple(checked)
