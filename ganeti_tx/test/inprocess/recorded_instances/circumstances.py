"""What had happened to the recorded cluster's machines, besides commands."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.fakes.storage import FakeDisk
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.recorded_instances.playing import Player
from ganeti_tx.test.inprocess.verify_faults.of_instances import file_of

#: Brings something about.
Circumstance = Callable[[Player], None]
MEMORY = b"MemTotal: 24608764 kB\nMemAvailable: 23164928 kB\n"
#: Definitions of operating systems besides the one whose scripts are recorded.
SYSTEMS: Mapping[str, Mapping[str, bytes]] = {
    "noop": {"ganeti_api_version": b"5\n10\n"},
    "failing": {"ganeti_api_version": b"20\n", "variants.list": b"default\n", "parameters.list": b""},
}
#: What is in the files with definitions of instances.
FILES: Mapping[str, Any] = {
    "b1": [
        {"instance_name": "b1", "disk_template": "file", "disks": [{"size": 32}], "pnode": "node1.example.com"},
        {"instance_name": "b2", "disk_template": "diskless", "disks": [], "pnode": "node2.example.com"},
    ],
    "b2": [
        {"instance_name": "b3", "disk_template": "file", "disks": [{"size": 32}]},
        {"instance_name": "b4", "disk_template": "diskless", "disks": []},
    ],
    "b4": [{"instance_name": "b5", "nosuch": 1}],
    "b5": {"instance_name": "b5"},
    "b6": [{"instance_name": "b6", "mode": None}],
    "b7": [{"instance_name": "b7", "disk_template": "file", "disks": [{"size": 90 << 10}]}],
}
LIKE_ALL = {"mode": "create", "os_type": "noop", "start": False, "name_check": False, "ip_check": False, "nics": [{}]}


def lay_definitions(player: Player, **more: str) -> None:
    """The files are there; one of them is no JSON."""
    for name, content in FILES.items():
        if isinstance(content, list):
            content = [{**LIKE_ALL, **more, **each} for each in content]
        (player.directory / f"{name}.json").write_text(json.dumps(content))
    (player.directory / "b3.json").write_text("no JSON")


#: They name a hypervisor from now on, too.
hypervisor_named: Circumstance = partial(lay_definitions, hypervisor="fake")


def furnish(player: Player) -> None:
    """What the recorded machines had: memory, scripts that judge, one bridge, short names of instances, and no web8."""
    for node in player.cluster.nodes.values():
        put(node.disk, Path("/proc/meminfo"), MEMORY)
        node.disk.remove_tree(Path("/sys/class/net/xen-br0"))
        hosts = node.disk.read(player.cluster.paths.etc_hosts, 1 << 16).decode().splitlines()
        kept = [f"{host} {host.split()[1].split('.')[0]}\n" for host in hosts if " web" not in host]
        put(node.disk, player.cluster.paths.etc_hosts, "".join(kept).encode())
    for name, files in SYSTEMS.items():
        _define(player.cluster, name, files)
    _give_scripts(player.cluster)
    lay_definitions(player)


def _define(cluster: InProcessCluster, name: str, files: Mapping[str, bytes]) -> None:
    directory = cluster.paths.os_search_path[0] / name
    for node in cluster.nodes.values():
        for file, content in files.items():
            put(node.disk, directory / file, content)
        for script in ("create", "export", "import", "rename", "verify"):
            put(node.disk, directory / script, b"#!/bin/sh\n", 0o755)


def _give_scripts(cluster: InProcessCluster) -> None:
    systems = cluster.paths.os_search_path[0]
    failing = ProcessResult(status=3, stdout=b"this script always fails\n")
    for node in cluster.members:
        node.scripts.script([str(systems / "failing" / "create")], failing)
        node.scripts.script([str(systems / "envdump" / "verify"), "parameters"], _judge)


def _judge(call: Call) -> ProcessResult:
    well = call.env.get("OSP_DHCP", "yes") in ("yes", "no")
    return ProcessResult() if well else ProcessResult(status=1, stdout=b"dhcp must be yes or no\n")


def lost(number: int) -> Circumstance:
    """The files of inst3 are removed from a node by hand."""

    def remove(player: Player) -> None:
        disks = player.cluster.node(number).files_storage.disks
        for key in _files(disks):
            del disks[key]

    return remove


def copied(source: int, target: int) -> Circumstance:
    """Files like those of inst3 on one node are on another one."""

    def copy(player: Player) -> None:
        disks = player.cluster.node(source).files_storage.disks
        player.cluster.node(target).files_storage.disks.update(
            {key: FakeDisk(disks[key].size) for key in _files(disks)}
        )

    return copy


def file_lost(name: str, number: int) -> Circumstance:
    """The file of an instance's disk is removed from a node by hand."""

    def remove(player: Player) -> None:
        disks = player.cluster.node(number).files_storage.disks
        for key in [key for key in disks if f"/{name}." in key]:
            del disks[key]

    return remove


def _files(disks: Mapping[str, FakeDisk]) -> Sequence[str]:
    return [key for key in disks if "/inst3." in key]


def without_providers(player: Player) -> None:
    """No node has a provider of external storage."""
    for node in player.cluster.nodes.values():
        for directory in player.cluster.paths.extstorage_search_path:
            if node.disk.exists(directory):
                node.disk.remove_tree(directory)


def stopped(player: Player) -> None:
    """The node daemon of node2 is."""
    player.cluster.node(2).stop()


def started(player: Player) -> None:
    """It is there again."""
    player.cluster.node(2).start()
    _give_scripts(player.cluster)


def hook(phase: str) -> Circumstance:
    """One that fails before a start, or after it, on the master."""

    def lay(player: Player) -> None:
        path = _hook(player, phase)
        put(player.cluster.master.disk, path, b"#!/bin/sh\n", 0o755)
        result = ProcessResult(status=1, stdout=b"no start today\n", stderr=b"on stderr\n")
        player.cluster.master.scripts.script([str(path)], result)

    return lay


def no_hook(phase: str) -> Circumstance:
    """It is gone."""
    return lambda player: player.cluster.master.disk.remove(_hook(player, phase))


def _hook(player: Player, phase: str) -> Path:
    return player.cluster.paths.hooks_dir / f"instance-start-{phase}.d" / "70-no"


def runs(name: str, number: int, memory: int = 128) -> Circumstance:
    """An instance is started on a node behind the cluster's back."""
    content = json.dumps({"id": 9, "memory": memory, "vcpus": 1, "started": 0.0}).encode()
    return lambda player: put(player.cluster.node(number).disk, file_of(player.cluster, f"{name}.example.com"), content)


def dies(name: str, number: int) -> Circumstance:
    """An instance that runs on a node does not any more."""
    return lambda player: player.cluster.node(number).disk.remove(file_of(player.cluster, f"{name}.example.com"))
