"""What is the same for the whole cluster: version, features, settings."""

from typing import Any

from ganeti_tx.rapi.operations.operation import Call, Operation, Schema
from ganeti_tx.rapi.operations.schemas import INTEGER, NULL, TEXT, list_of
from ganeti_tx.rapi.operations.submission import ANYBODY
from ganeti_tx.rapi.resources.cluster_fields import ALIASES, INFO

#: The version of the Remote API, which is the first part of nearly every path.
VERSION = 2
#: What clients may look for before they send a newer form of a request (Ganeti 3.0 RAPI table, features).
FEATURES = ("instance-create-reqv1", "instance-reinstall-reqv1", "node-migrate-reqv1", "node-evac-res1")


async def nothing(call: Call) -> None:
    """There is nothing here but what is below."""


async def version(call: Call) -> int:
    """The version of the Remote API."""
    return VERSION


async def features(call: Call) -> list[str]:
    """The features of this version."""
    return list(FEATURES)


async def info(call: Call) -> dict[str, Any]:
    """The cluster's settings."""
    told = await call.luxi.query_cluster_info()
    return told | {alias: told.get(name) for alias, name in ALIASES.items()}


def reads(path: str, resource: str, run: Any, summary: str, result: Schema) -> Operation:
    """GET for everybody."""
    return Operation("GET", path, resource, ANYBODY, run, summary, result, tags=("cluster",))


OPERATIONS = (
    reads("/", "root", nothing, "Nothing: the top of all resources", NULL),
    reads("/2", "2", nothing, "Nothing: the top of version 2", NULL),
    reads("/version", "version", version, "Tell the version of the Remote API", {**INTEGER, "const": VERSION}),
    reads(
        "/2/features", "features", features, "List the features of this version", list_of({**TEXT, "enum": FEATURES})
    ),
    reads("/2/info", "info", info, "Show the cluster's settings", INFO),
)
