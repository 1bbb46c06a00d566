"""What hooks are told of an instance (Ganeti 3.0 hook table, shared_env); nothing of it is private or secret."""

from typing import Any

from ganeti_tx.logic.network.hook_values import network_values
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nic import Nic

#: Network interfaces that plug into a bridge, which the hooks are told once more by its own name.
WITH_BRIDGE = (NicMode.BRIDGED, NicMode.OPENVSWITCH)
#: How hooks call the parts of a logical id that say where a disk is in its pool; the pool's own name stays as it is.
PLACES = ("path", "name")


def instance_values(view: InstanceView) -> dict[str, object]:
    """Every variable of an instance, without prefix, filled from its cluster."""
    instance, spec = view.instance, view.spec()
    return {
        "OP_TARGET": instance.name,
        "INSTANCE_NAME": instance.name,
        "INSTANCE_PRIMARY": view.primary.name,
        "INSTANCE_SECONDARIES": " ".join(node.name for node in view.secondaries),
        "INSTANCE_OS_TYPE": instance.os,
        "INSTANCE_STATUS": instance.admin_state.value,
        "INSTANCE_MINMEM": spec.beparams["minmem"],
        "INSTANCE_MAXMEM": spec.beparams["maxmem"],
        "INSTANCE_MEMORY": spec.beparams["maxmem"],
        "INSTANCE_VCPUS": spec.beparams["vcpus"],
        "INSTANCE_DISK_TEMPLATE": view.disk_template.value,
        "INSTANCE_HYPERVISOR": instance.hypervisor.value,
        "INSTANCE_NIC_COUNT": len(instance.nics),
        "INSTANCE_DISK_COUNT": len(view.disks),
        "INSTANCE_TAGS": " ".join(instance.tags),
        **numbered("NIC", [nic_values(view, nic) for nic in instance.nics]),
        **numbered("DISK", [disk_values(disk) for disk in view.disks]),
        **{f"INSTANCE_BE_{name}": value for name, value in spec.beparams.items()},
        **{f"INSTANCE_HV_{name}": value for name, value in spec.hvparams.items()},
    }


def numbered(kind: str, each: list[dict[str, object]]) -> dict[str, object]:
    """The variables of several things of a kind, such as INSTANCE_NIC0_MAC."""
    return {f"INSTANCE_{kind}{n}_{name}": value for n, values in enumerate(each) for name, value in values.items()}


def nic_values(view: InstanceView, nic: Nic) -> dict[str, object]:
    """One network interface, with its network if it is on one."""
    spec = view.nic_spec(nic)
    values: dict[str, object] = {
        "UUID": spec.uuid,
        "IP": spec.ip or "",
        "MAC": spec.mac,
        "MODE": spec.mode,
        "LINK": spec.link,
        "VLAN": spec.vlan,
    }
    if spec.name:
        values["NAME"] = spec.name
    if spec.mode in WITH_BRIDGE:
        values["BRIDGE"] = spec.link
    if nic.network is not None:
        values |= network_values(view.networks[nic.network])
    return values


def disk_values(disk: Disk) -> dict[str, object]:
    """One disk: what it is, and where."""
    values: dict[str, object] = {
        "DEV_TYPE": disk.dev_type.value,
        "UUID": disk.uuid,
        "SIZE": disk.size,
        "MODE": disk.mode,
        **(mirror_values(disk) if disk.mirrors else place_values(disk)),
    }
    if disk.name:
        values["NAME"] = disk.name
    return values


def place_values(disk: Disk) -> dict[str, object]:
    """The parts of a logical id: the last is the place, the first the pool or the driver."""
    parts: dict[str, Any] = dict(zip(disk.template.logical_id._fields, disk.logical_id or (), strict=False))  # type: ignore[attr-defined]
    return {("ID" if name in PLACES else name.upper()): value for name, value in parts.items()}


def mirror_values(disk: Disk) -> dict[str, object]:
    """Where the two halves of a mirror are, and what they are made of; its secret is not told."""
    primary, secondary = disk.mirrors[:2]
    minors = dict(disk.minors)
    values: dict[str, object] = {
        "PNODE": primary,
        "SNODE": secondary,
        "PORT": disk.ports[0],
        "PMINOR": minors[primary],
        "SMINOR": minors[secondary],
    }
    for part, child in zip(("DATA", "META"), disk.children, strict=False):
        values |= {f"{part}_{name}": value for name, value in place_values(child).items()}
    return values
