"""A cluster for tests that ask its Remote API for anything: what they change stays a queued job."""

from functools import cache
from typing import Any

from attrs import frozen

from ganeti_tx.rapi_client import Client
from ganeti_tx.test.real.rapi_cluster import RapiCluster, rapi_cluster

INSTANCE = "walk.example.com"
#: A rule that lets jobs be queued, and none run.
PAUSE_ALL = (0, [["jobid", [">", "id", 0]]], "PAUSE")


@frozen
class Scene:
    """A cluster in which something of each kind is, and jobs are queued and do not run."""

    rapi: RapiCluster
    document: dict[str, Any]
    #: Names of what is there, for the parts of paths.
    parts: dict[str, str]


@cache
def scene() -> Scene:
    """Made once."""
    rapi = rapi_cluster("walk")
    with Client(rapi.server()) as client:
        node = client.get_nodes()[0]
        settings: dict[str, Any] = {
            "pnode": node,
            "os_type": "noop",
            "no_install": True,
            "name_check": False,
            "ip_check": False,
        }
        client.wait_for_job(client.create_instance("create", INSTANCE, "diskless", [], [{}], **settings), limit=60)
        client.wait_for_job(client.startup_instance(INSTANCE), limit=60)
        client.wait_for_job(client.create_network("lan", "192.0.2.0/24"), limit=60)
        rule = client.add_filter(*PAUSE_ALL)
        waiting = client.add_cluster_tags(["walk"])
        document = client.get_openapi()
    parts = {
        "instance_name": INSTANCE,
        "node_name": node,
        "group_name": "default",
        "network_name": "lan",
        "filter_uuid": rule,
        "job_id": str(waiting),
        "disk_index": "0",
        "resource": "instance",
    }
    return Scene(rapi, document, parts)
