"""What an OS script is told: its whole environment (Ganeti 3.0 OS interface table)."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.model.network import VARIABLES
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.os.api_versions import known_to
from ganeti_tx.node.os.definition import OsDefinition, split_name

PATH = "/sbin:/bin:/usr/sbin:/usr/bin"


def core_environment(os: OsDefinition, full_name: str, osparams: Mapping[str, Any], debug: int) -> dict[str, str]:
    """What every script gets, with an instance or without; a missing variant is the first of the list."""
    return known_to(os.api_version, core_variables(os, full_name, osparams, debug))


def core_variables(os: OsDefinition, full_name: str, osparams: Mapping[str, Any], debug: int) -> dict[str, str]:
    """The same, whatever version the definition speaks."""
    variant = split_name(full_name)[1] or (os.variants[0] if os.variants else "")
    environment = {
        "PATH": PATH,
        "OS_API_VERSION": str(os.api_version),
        "OS_NAME": os.name,
        "OS_VARIANT": variant,
        "DEBUG_LEVEL": "1" if debug else "0",
    }
    for name, value in osparams.items():
        environment[f"OSP_{name.upper().replace('-', '_')}"] = str(value)
    return environment


def os_environment(
    os: OsDefinition, instance: InstanceSpec, disks: Sequence[AttachedDisk], debug: int = 0
) -> dict[str, str]:
    """What a script about an instance gets. Holds its secret parameters: no log or error may show it."""
    osparams = {**instance.osparams, **instance.osparams_private, **instance.osparams_secret}
    environment = {
        **core_variables(os, instance.os, osparams, debug),
        **_instance(instance),
        **{f"DISK_{index}_{key}": value for index, each in enumerate(disks) for key, value in _disk(each, instance)},
        **{
            f"NIC_{index}_{key}": value
            for index, each in enumerate(instance.nics)
            for key, value in _nic(each, instance)
        },
        **{f"INSTANCE_HV_{key}": str(value) for key, value in instance.hvparams.items()},
        **{f"INSTANCE_BE_{key}": str(value) for key, value in instance.beparams.items()},
    }
    return known_to(os.api_version, environment)


def _instance(instance: InstanceSpec) -> dict[str, str]:
    return {
        "INSTANCE_NAME": instance.name,
        "INSTANCE_UUID": instance.uuid,
        "INSTANCE_OS": instance.os,
        "INSTANCE_CTIME": str(instance.ctime),
        "INSTANCE_MTIME": str(instance.mtime),
        "INSTANCE_PRIMARY_NODE": instance.primary_node,
        "INSTANCE_SECONDARY_NODES": " ".join(instance.secondary_nodes),
        "HYPERVISOR": instance.hypervisor,
        "INSTANCE_HYPERVISOR": instance.hypervisor,
        "DISK_COUNT": str(len(instance.disks)),
        "NIC_COUNT": str(len(instance.nics)),
    }


def _disk(disk: AttachedDisk, instance: InstanceSpec) -> list[tuple[str, str]]:
    spec = disk.spec
    of_file = TEMPLATES[DiskTemplate(spec.dev_type)].in_files
    found = {
        "ACCESS": spec.mode,
        "UUID": spec.uuid,
        "SIZE": str(spec.size),
        "NAME": spec.name,
        "PATH": disk.path,
        "URI": disk.uri,
        "FRONTEND_TYPE": instance.hvparams.get("disk_type"),
        "BACKEND_TYPE": f"file:{spec.logical_id[0]}" if of_file and spec.logical_id else "block",
    }
    return _set(found)


def _nic(nic: NicSpec, instance: InstanceSpec) -> list[tuple[str, str]]:
    found: dict[str, Any] = {
        "MAC": nic.mac,
        "UUID": nic.uuid,
        "NAME": nic.name,
        "IP": nic.ip,
        "MODE": nic.mode,
        "LINK": nic.link,
        "BRIDGE": nic.link if nic.mode == "bridged" else None,
        "FRONTEND_TYPE": instance.hvparams.get("nic_type"),
    }
    network = nic.netinfo
    if network is None:
        return _set(found)
    fields = {"NAME": "name", "UUID": "uuid", **VARIABLES}
    found.update({f"NETWORK_{key}": network.get(name) for key, name in fields.items()})
    return [*_set(found), ("NETWORK_TAGS", " ".join(sorted(network.get("tags") or [])))]


def _set(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Those that have a value."""
    return [(key, str(value)) for key, value in found.items() if value not in (None, "")]
