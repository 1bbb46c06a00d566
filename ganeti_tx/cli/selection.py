"""The arguments of a list command to a query filter: names, patterns, or one filter in text form."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.filters import Filter, name_glob_to_regexp, parse_filter
from ganeti_tx.cli.hints import hint
from ganeti_tx.cli.parsing import UsageError, job_ids
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ECode, OpPrereqError, error_text
from ganeti_tx.model.natural_order import natural

#: A single argument with one of these is a filter (Ganeti 3.0 query table, filter_detection_chars).
_FILTER_MARKS = frozenset("\t\n\v\f\r !\"'()/<=>\\~")
_GLOB_MARKS = frozenset("*?")


def selection(words: Sequence[str], *, force_filter: bool, field: str = "name", numbers: bool = False) -> Filter | None:
    """What the arguments select; None for everything. `numbers`: the field holds integers.

    @raise UsageError: a filter was forced with several arguments, or a name is no number.
    @raise QueryFilterParseError: the filter cannot be read.
    """
    if force_filter and len(words) > 1:
        raise UsageError(f"--filter takes one argument, got {len(words)}")
    if len(words) == 1 and (force_filter or _FILTER_MARKS.intersection(words[0])):
        return parse_filter(words[0])
    if not words:
        return None
    named = [_named(word, field, numbers) for word in words]
    return ["|", *named]


def _named(word: str, field: str, numbers: bool) -> Filter:
    if numbers:
        return ["==", field, job_ids([word])[0]]
    if _GLOB_MARKS.intersection(word):
        return ["=~", field, name_glob_to_regexp(word)]
    return ["==", field, word]


def rows_there(
    session: Session,
    kind: str,
    fields: Sequence[str],
    words: Sequence[str],
    *,
    field: str = "name",
    more: Filter | None = None,
) -> list[Any]:
    """The rows of what the arguments select and what passes `more`, in the order of their names if they have any.

    Of names that are not there is told; that is no failure, as in Ganeti's info.
    """  # fmt: skip
    try:
        return _rows(session, kind, fields, words, field, more)
    except OpPrereqError as error:
        if error.ecode is not ECode.NOENT or not words:
            raise
    there = [word for word in words if _is_there(session, kind, word, field)]
    return _rows(session, kind, fields, there, field, more) if there else []


def _rows(
    session: Session, kind: str, fields: Sequence[str], words: Sequence[str], field: str, more: Filter | None
) -> list[Any]:
    chosen = both(selection(words, force_filter=False, field=field), more)
    rows: list[Any] = session.client.query(kind, fields, chosen)["data"]
    return sorted(rows, key=lambda row: natural(row[fields.index(field)][1])) if field == "name" else rows


def _is_there(session: Session, kind: str, word: str, field: str) -> bool:
    try:
        _rows(session, kind, [field], [word], field, None)
    except OpPrereqError as error:
        if error.ecode is not ECode.NOENT:
            raise
        text = error_text(error)
        session.warn(text)
        if more := hint(session, text):
            session.warn(more)
        return False
    return True


def both(first: Filter | None, second: Filter | None) -> Filter | None:
    """What passes both; None lets everything pass."""
    if first is None or second is None:
        return first or second
    return ["&", first, second]
