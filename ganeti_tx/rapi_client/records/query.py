"""Answers of the query language, and job filter rules."""

from typing import Any

from ganeti_tx.rapi_client.records.base import Record


class FieldDefinition(Record, frozen=True, kw_only=True):
    """One column."""

    name: str
    title: str
    kind: str
    doc: str = ""


class FieldDefinitions(Record, frozen=True, kw_only=True):
    """The columns that there are."""

    fields: tuple[FieldDefinition, ...]


class QueryResult(Record, frozen=True, kw_only=True):
    """Rows of [status, value] cells in the order of the fields; status 0 says that the value counts."""

    fields: tuple[FieldDefinition, ...]
    data: tuple[tuple[tuple[int, Any], ...], ...]


class FilterRule(Record, frozen=True, kw_only=True):
    """A job filter rule; the watermark is the last job's id at the time when it was made."""

    uuid: str
    watermark: int
    priority: int
    predicates: tuple[Any, ...]
    action: Any
    reason_trail: tuple[Any, ...] = ()
