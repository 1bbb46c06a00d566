"""The cluster, and the server itself."""

from typing import Any

from ganeti_tx.rapi_client.records.cluster import ClusterInfo
from ganeti_tx.rapi_client.request import JobId, Request, get, json_of, submit, text


def get_version() -> Request[int]:
    """The version of the Remote API."""
    return get("/version", int)


def get_features() -> Request[list[str]]:
    """What this server can do that older ones could not."""
    return get("/2/features", list[str])


def get_info() -> Request[ClusterInfo]:
    """The cluster's settings."""
    return get("/2/info", ClusterInfo)


def get_operating_systems() -> Request[list[str]]:
    """Names of the operating systems that can be installed, with their variants as NAME+VARIANT; the nodes are asked."""
    return Request("GET", "/2/os", json_of(list[str]))  # the server submits a job for it


def modify_cluster(*, reason: str | None = None, **parameters: Any) -> Request[JobId]:
    """Change settings: the parameters of OP_CLUSTER_SET_PARAMS."""
    return submit("PUT", "/2/modify", {"reason": reason}, parameters)


def redistribute_config(*, reason: str | None = None) -> Request[JobId]:
    """Send the configuration to all nodes again."""
    return submit("PUT", "/2/redistribute-config", {"reason": reason})


def get_metrics() -> Request[str]:
    """The server's metrics in the text form of Prometheus."""
    return Request("GET", "/metrics", text, safe=True)


def get_openapi() -> Request[dict[str, Any]]:
    """The OpenAPI description of the server."""
    return get("/openapi.json", dict[str, Any])
