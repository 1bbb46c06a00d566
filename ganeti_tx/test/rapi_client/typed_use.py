"""A user's program, as far as a type checker sees it: every method of the clients, with the type of what it gives."""

from collections.abc import Sequence
from contextlib import aclosing, closing
from typing import Any, assert_type

from ganeti_tx.rapi_client import Client
from ganeti_tx.rapi_client.actions.instances import delete_instance
from ganeti_tx.rapi_client.async_client import AsyncClient
from ganeti_tx.rapi_client.following import Happened
from ganeti_tx.rapi_client.records.cluster import ClusterInfo
from ganeti_tx.rapi_client.records.group import Group
from ganeti_tx.rapi_client.records.instance import Instance, InstanceConsole
from ganeti_tx.rapi_client.records.job import Job, JobChange
from ganeti_tx.rapi_client.records.network import Network
from ganeti_tx.rapi_client.records.node import Node
from ganeti_tx.rapi_client.records.query import FieldDefinitions, FilterRule, QueryResult


def look(client: Client) -> None:
    """What changes nothing."""
    assert_type(client.get_version(), int)
    assert_type(client.get_features(), list[str])
    assert_type(client.get_info(), ClusterInfo)
    assert_type(client.get_operating_systems(), list[str])
    assert_type(client.get_metrics(), str)
    assert_type(client.get_openapi(), dict[str, Any])
    assert_type(client.get_instances(), list[str])
    assert_type(client.get_instances_bulk(), list[Instance])
    assert_type(client.get_instance("web1"), Instance)
    assert_type(client.get_instance_console("web1"), InstanceConsole)
    assert_type(client.get_nodes(), list[str])
    assert_type(client.get_nodes_bulk(), list[Node])
    assert_type(client.get_node("node1"), Node)
    assert_type(client.get_node_role("node1"), str)
    assert_type(client.get_groups(), list[str])
    assert_type(client.get_groups_bulk(), list[Group])
    assert_type(client.get_group("default"), Group)
    assert_type(client.get_networks(), list[str])
    assert_type(client.get_networks_bulk(), list[Network])
    assert_type(client.get_network("lan"), Network)
    assert_type(client.get_cluster_tags(), list[str])
    assert_type(client.get_instance_tags("web1"), list[str])
    assert_type(client.get_node_tags("node1"), list[str])
    assert_type(client.get_group_tags("default"), list[str])
    assert_type(client.get_network_tags("lan"), list[str])
    assert_type(client.get_filters(), list[str])
    assert_type(client.get_filters_bulk(), list[FilterRule])
    assert_type(client.get_filter("uuid"), FilterRule)
    assert_type(client.query("instance", ["name"], qfilter=["=", "name", "web1"]), QueryResult)
    assert_type(client.query_fields("instance", fields=["name"]), FieldDefinitions)


def follow_jobs(client: Client) -> None:
    """Jobs."""
    assert_type(client.get_jobs(), list[str])
    assert_type(client.get_jobs_bulk(), list[Job])
    assert_type(client.get_job_status(1), Job)
    assert_type(client.wait_for_job_change(1, ["status"], ["queued"], 0), JobChange | None)
    assert_type(client.cancel_job("1"), tuple[bool, str])
    assert_type(client.wait_for_job(1, limit=10), Job)
    assert_type(client.wait_for_job_completion(1, period=5, retries=2), bool)


def change_instances(client: Client) -> Sequence[int]:
    """Jobs about instances."""
    one = client.instance_allocation("create", "web1", "plain", [{"size": 1024}], [{"link": "br0"}], os_type="noop")
    assert_type(one, dict[str, Any])
    return (
        client.create_instance("create", "web1", "plain", [{"size": 1024}], [{}], os_type="noop", reason="new"),
        client.instances_multi_alloc([one], dry_run=True),
        client.modify_instance("web1", beparams={"maxmem": 512}),
        client.rename_instance("web1", "web2", name_check=False),
        client.reinstall_instance("web1", os="noop", no_startup=True),
        client.delete_instance("web1", dry_run=True),
        client.get_instance_info("web1", static=True),
        client.startup_instance("web1", no_remember=True),
        client.shutdown_instance("web1", timeout=60),
        client.reboot_instance("web1", reboot_type="hard", ignore_secondaries=True),
        client.migrate_instance("web1", mode="live"),
        client.failover_instance("web1", target_node="node2"),
        client.prepare_export("web1", "remote"),
        client.export_instance("web1", "local", "node2", shutdown=True),
        client.activate_instance_disks("web1", ignore_size=True),
        client.deactivate_instance_disks("web1", force=True),
        client.recreate_instance_disks("web1", nodes=["node1"]),
        client.grow_instance_disk("web1", 0, 1024, wait_for_sync=False),
        client.replace_instance_disks("web1", disks=[0], mode="replace_on_primary"),
        client.add_instance_tags("web1", ["web"]),
        client.delete_instance_tags("web1", ["web"]),
        client.do(delete_instance("web1").matching('"etag"')),
    )


def change_others(client: Client) -> Sequence[int]:
    """Jobs about all else."""
    return (
        client.modify_cluster(candidate_pool_size=3),
        client.redistribute_config(reason="again"),
        client.set_node_role("node1", "drained", force=True),
        client.modify_node("node1", drained=True),
        client.migrate_node("node1", mode="live"),
        client.evacuate_node("node1", "all", iallocator="hail"),
        client.powercycle_node("node1", force=True),
        client.get_node_storage_units("node1", "lvm-vg", ["name"]),
        client.modify_node_storage_units("node1", "lvm-pv", "sda", allocatable=True),
        client.repair_node_storage_units("node1", "lvm-vg", "xenvg"),
        client.create_group("g", alloc_policy="preferred"),
        client.modify_group("g", alloc_policy="preferred"),
        client.rename_group("g", "h"),
        client.assign_group_nodes("g", ["node1"], force=True),
        client.delete_group("g"),
        client.create_network("lan", "192.0.2.0/24", gateway="192.0.2.1"),
        client.modify_network("lan", gateway=None),
        client.connect_network("lan", "g", "bridged", "br0", vlan="7"),
        client.disconnect_network("lan", "g"),
        client.rename_network("lan", "wan"),
        client.delete_network("lan"),
        client.add_cluster_tags(["a"]),
        client.delete_cluster_tags(["a"]),
        client.add_node_tags("node1", ["a"]),
        client.delete_node_tags("node1", ["a"]),
        client.add_group_tags("g", ["a"]),
        client.delete_group_tags("g", ["a"]),
        client.add_network_tags("lan", ["a"]),
        client.delete_network_tags("lan", ["a"]),
    )


def change_filters(client: Client) -> None:
    """Filter rules, which need no job."""
    assert_type(client.add_filter(1, [["jobid", [">", "id", "watermark"]]], "REJECT"), str)
    assert_type(client.replace_filter("uuid", 1, [], ["RATE_LIMIT", 3]), str)
    client.delete_filter("uuid")


def follow_events(client: Client) -> None:
    """The stream of events, left at will."""
    with closing(client.events("id", kinds=["job"], objects=["web1"])) as events:
        for happened in events:
            assert_type(happened, Happened)
    client.close()


async def use_without_blocking(client: AsyncClient) -> None:
    """The same methods, to be awaited."""
    assert_type(await client.get_instances_bulk(), list[Instance])
    assert_type(await client.startup_instance("web1"), int)
    assert_type(await client.wait_for_job(1), Job)
    assert_type(await client.do(delete_instance("web1").matching('"etag"')), int)
    async with aclosing(client.events(kinds=["job"])) as events:
        async for happened in events:
            assert_type(happened, Happened)
    client.close()
