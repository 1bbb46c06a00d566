"""The arguments of a list command to a query filter: names, patterns, or one filter in text form."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.filters import Filter, name_glob_to_regexp, parse_filter
from ganeti_tx.cli.hints import hint
from ganeti_tx.cli.parsing import UsageError, job_ids
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ECode, OpPrereqError, error_text

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


def rows_there(session: Session, kind: str, fields: Sequence[str], words: Sequence[str]) -> list[Any]:
    """The rows of what the arguments select. Of names that are not there is told; that is no failure, as in Ganeti's info."""
    try:
        return list(session.client.query(kind, fields, selection(words, force_filter=False))["data"])
    except OpPrereqError as error:
        if error.ecode is not ECode.NOENT or not words:
            raise
        if len(words) == 1:
            text = error_text(error)
            session.warn(text)
            if more := hint(session, text):
                session.warn(more)
            return []
    return [row for word in words for row in rows_there(session, kind, fields, [word])]


def both(first: Filter | None, second: Filter | None) -> Filter | None:
    """What passes both; None lets everything pass."""
    if first is None or second is None:
        return first or second
    return ["&", first, second]
