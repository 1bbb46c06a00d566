"""Job filter rules."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.rapi_client.actions.listing import names
from ganeti_tx.rapi_client.records.query import FilterRule
from ganeti_tx.rapi_client.request import Request, get, json_of, path

#: Entries of a reason trail: [source, reason, nanoseconds since the epoch].
Trail = Sequence[Sequence[Any]]


def get_filters() -> Request[list[str]]:
    """The rules' UUIDs."""
    return names("/2/filters", "uuid")


def get_filters_bulk() -> Request[list[FilterRule]]:
    """All rules in full."""
    return get("/2/filters", list[FilterRule], {"bulk": True})


def get_filter(filter_uuid: str) -> Request[FilterRule]:
    """One rule."""
    return get(path("/2/filters/{}", filter_uuid), FilterRule)


def add_filter(
    priority: int, predicates: Sequence[Any], action: str | Sequence[Any], *, reason_trail: Trail = ()
) -> Request[str]:
    """Make a rule; its UUID."""
    return Request("POST", "/2/filters", json_of(str), body=_rule(priority, predicates, action, reason_trail))


def replace_filter(
    uuid: str, priority: int, predicates: Sequence[Any], action: str | Sequence[Any], *, reason_trail: Trail = ()
) -> Request[str]:
    """Set a rule anew; its UUID."""
    body = _rule(priority, predicates, action, reason_trail)
    return Request("PUT", path("/2/filters/{}", uuid), json_of(str), body=body)


def delete_filter(uuid: str) -> Request[None]:
    """Remove a rule."""
    return Request("DELETE", path("/2/filters/{}", uuid), json_of(type(None)))


def _rule(priority: int, predicates: Sequence[Any], action: str | Sequence[Any], trail: Trail) -> dict[str, Any]:
    return {"priority": priority, "predicates": predicates, "action": action, "reason": list(trail)}
