"""gnt-cluster info, version and getmaster."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.options import ROMAN, Command
from ganeti_tx.cli.output import format_time
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.roman import roman
from ganeti_tx.cli.session import Session, master_name, rooted
from ganeti_tx.cli.tree import Labelled, tree_lines
from ganeti_tx.errors import ExitCode
from ganeti_tx.model import search_paths

Info = dict[str, Any]
Number = Callable[[Any], str]


def info(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The cluster's settings."""
    number = roman if options.roman_integers else str
    for line in tree_lines(_described(session.client.query_cluster_info(), number, session.environ)):
        session.print(line)
    return ExitCode.SUCCESS


def _described(cluster: Info, number: Number, environ: Mapping[str, str]) -> Labelled:
    return [
        ("Cluster name", cluster["name"]),
        ("Cluster UUID", cluster["uuid"]),
        ("Creation time", format_time(cluster["ctime"])),
        ("Modification time", format_time(cluster["mtime"])),
        ("Master node", cluster["master"]),
        ("Architecture (this node)", "{} ({})".format(*cluster["architecture"])),
        ("Tags", ", ".join(sorted(cluster["tags"])) or "(none)"),
        ("Default hypervisor", cluster["default_hypervisor"]),
        ("Enabled hypervisors", ", ".join(cluster["enabled_hypervisors"])),
        ("Hypervisor parameters", {name: cluster["hvparams"][name] for name in cluster["enabled_hypervisors"]}),
        ("OS-specific hypervisor parameters", cluster["os_hvp"]),
        ("OS parameters", cluster["osparams"]),
        ("Hidden OSes", ", ".join(cluster["hidden_os"])),
        ("Blacklisted OSes", ", ".join(cluster["blacklisted_os"])),
        ("Cluster parameters", _parameters(cluster, number, environ)),
        ("Default node parameters", cluster["ndparams"]),
        ("Default instance parameters", cluster["beparams"]),
        ("Default nic parameters", cluster["nicparams"]),
        ("Default disk parameters", cluster["diskparams"]),
        ("Instance policy - limits for instances", _policy(cluster["ipolicy"])),
        ("Data collectors", _collectors(cluster)),
    ]


def _parameters(cluster: Info, number: Number, environ: Mapping[str, str]) -> Labelled:
    return [
        ("candidate pool size", number(cluster["candidate_pool_size"])),
        ("maximal number of jobs running simultaneously", number(cluster["max_running_jobs"])),
        ("maximal number of jobs simultaneously tracked by the scheduler", number(cluster["max_tracked_jobs"])),
        ("mac prefix", cluster["mac_prefix"]),
        ("master netdev", cluster["master_netdev"]),
        ("master netmask", cluster["master_netmask"]),
        ("use external master IP address setup script", cluster["use_external_mip_script"]),
        ("lvm volume group", cluster["volume_group_name"]),
        ("lvm reserved volumes", ", ".join(cluster["reserved_lvs"]) or "(none)"),
        ("drbd usermode helper", cluster["drbd_usermode_helper"]),
        ("file storage path", cluster["file_storage_dir"]),
        ("shared file storage path", cluster["shared_file_storage_dir"]),
        ("gluster storage path", cluster["gluster_storage_dir"]),
        ("maintenance of node health", cluster["maintain_node_health"]),
        ("uid pool", _uid_pool(cluster["uid_pool"], number)),
        ("default instance allocator", cluster["default_iallocator"]),
        ("default instance allocator parameters", cluster["default_iallocator_params"] or ""),
        ("primary ip version", number(cluster["primary_ip_version"])),
        ("preallocation wipe disks", cluster["prealloc_wipe_disks"]),
        ("OS search path", _searched(environ, search_paths.OS_DEFINITIONS)),
        ("ExtStorage Providers search path", _searched(environ, search_paths.EXTERNAL_STORAGE)),
        ("enabled disk templates", ", ".join(cluster["enabled_disk_templates"])),
        ("install image", cluster["install_image"]),
        ("instance communication network", cluster["instance_communication_network"]),
        ("zeroing image", cluster["zeroing_image"]),
        ("compression tools", cluster["compression_tools"]),
        ("enabled user shutdown", cluster["enabled_user_shutdown"]),
        ("modify ssh setup", cluster["modify_ssh_setup"]),
        ("ssh_key_type", cluster["ssh_key_type"]),
        ("ssh_key_bits", cluster["ssh_key_bits"]),
    ]


def _searched(environ: Mapping[str, str], directories: Sequence[str]) -> str:
    """As on this node; every node looks there below its own root."""
    return ", ".join(rooted(environ, f"/{directory}") for directory in directories)


def _collectors(cluster: Info) -> Mapping[str, Labelled]:
    interval = cluster["data_collector_interval"]
    return {
        name: [("active", active), ("interval", f"{interval[name] / 1e6:.3f}s" if name in interval else None)]
        for name, active in cluster["enabled_data_collectors"].items()
    }


def _uid_pool(ranges: Sequence[Sequence[int]], number: Number) -> str:
    """As --uid-pool takes it."""
    return ", ".join(number(low) if low == high else f"{number(low)}-{number(high)}" for low, high in ranges or ())


def _policy(ipolicy: Info) -> Labelled:
    """Bounds first, each pair with its number, what is left after them."""
    return [
        ("bounds specs", [_bounds(*numbered) for numbered in enumerate(ipolicy.get("minmax", ()))]),
        ("std", ipolicy.get("std")),
        ("allowed disk templates", ", ".join(ipolicy.get("disk-templates", ()))),
        *((key, ipolicy[key]) for key in ("vcpu-ratio", "spindle-ratio") if key in ipolicy),
    ]


def _bounds(index: int, pair: Mapping[str, Any]) -> Labelled:
    return [(f"{bound}/{index}", pair[bound]) for bound in ("min", "max")]


def version(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The versions that the cluster runs."""
    cluster = session.client.query_cluster_info()
    labels = {
        "Software version": "software_version",
        "Internode protocol": "protocol_version",
        "Configuration format": "config_version",
        "OS api version": "os_api_version",
        "Export interface": "export_version",
        "VCS version": "vcs_version",
    }
    for label, key in labels.items():
        session.print(f"{label}: {cluster[key]}")
    return ExitCode.SUCCESS


def getmaster(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The master's name, from what every node keeps: it works anywhere and with the master down."""
    session.print(master_name(session.environ, session.read))
    return ExitCode.SUCCESS


INFO = Command(info, (), (ROMAN,))
VERSION = Command(version)
GETMASTER = Command(getmaster)
