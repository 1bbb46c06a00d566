"""One method of one resource, declared once: routes, permissions, checks and documents all come from it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from attrs import field, frozen

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.rapi.asking.question_jobs import QuestionJobs
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.events.event_feed import EventFeed
from ganeti_tx.rapi.measures import Measures

Method = Literal["GET", "PUT", "POST", "DELETE"]
#: A JSON schema.
Schema = Mapping[str, Any]
#: Parts of paths that are numbers (Ganeti 3.0 RAPI table, uri_patterns); all others are names.
NUMBERS = frozenset({"job_id", "disk_index"})


@frozen
class Argument:
    """A query argument: `?name=value`."""

    name: str
    kind: Literal["flag", "int", "string", "list"] = "string"
    required: bool = False
    #: For people; where the argument is old, what to use instead.
    meaning: str = ""
    #: What it may be; anything when empty.
    choices: tuple[str, ...] = ()
    #: "list" only: given many times (`tag=a&tag=b`), not comma separated.
    repeatable: bool = False


@frozen
class Call:
    """One request on its way through an operation."""

    operation: "Operation"
    #: The path's named parts, as in {"instance_name": "web1"}.
    parts: Mapping[str, str]
    #: Every value of every query argument.
    arguments: Mapping[str, list[str]]
    #: The decoded JSON body; None when there is none.
    body: Any
    caller: Caller
    luxi: AsyncCalls
    #: Nanoseconds since the epoch at which the request came.
    received: int
    #: What this daemon counts.
    measures: Measures
    #: A header of the request by its name in lower case; None when it did not come.
    header: Callable[[str], str | None] = lambda name: None
    #: The cluster's events, for who streams them; not all programs that run operations have any.
    events: EventFeed | None = None
    #: The address that the request comes from.
    address: str = ""
    #: Where jobs that only find something out are shared; without one each request submits its own.
    questions: QuestionJobs | None = None


@frozen
class Operation:
    """What clients may do with a resource, and how it is done (Ganeti 3.0 RAPI table, resources)."""

    method: Method
    #: With named parts in braces, such as "/2/instances/{instance_name}/startup".
    path: str
    #: The resource's name in reason trails and permissions, such as "instances_name_startup".
    resource: str
    #: The caller needs one of these options ("read", "write"); nobody is asked when there is none.
    access: frozenset[str]
    #: Gives what is sent as JSON. @raise HttpError, GanetiError
    run: Callable[[Call], Awaitable[object]]
    summary: str
    result: Schema
    #: Of what is sent; `result` describes it as far as a JSON schema can.
    content_type: str = "application/json"
    arguments: tuple[Argument, ...] = ()
    #: The schema of the body; None when it is not looked at.
    body: Schema | None = None
    body_required: bool = False
    #: The opcodes of the job that it submits, in order; none for queries.
    submits: tuple[str, ...] = ()
    tags: tuple[str, ...] = field(factory=tuple)
