"""The query language."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.rapi_client.records.query import FieldDefinitions, QueryResult
from ganeti_tx.rapi_client.request import Request, get, given, json_of, path


def query(what: str, fields: Sequence[str], *, qfilter: Sequence[Any] | None = None) -> Request[QueryResult]:
    """Rows of a resource such as "instance", all without a filter."""
    body = {"fields": list(fields)} | given(qfilter=qfilter)
    return Request("PUT", path("/2/query/{}", what), json_of(QueryResult), body=body, safe=True)


def query_fields(what: str, *, fields: Sequence[str] | None = None) -> Request[FieldDefinitions]:
    """The fields that a resource has, or some of them."""
    where = path("/2/query/{}/fields", what)
    return get(where, FieldDefinitions, {"fields": None if fields is None else ",".join(fields)})
