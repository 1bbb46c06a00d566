"""Network interfaces: the end in the node and the end in the guest."""

from collections.abc import Mapping

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.command.options import Value, option
from ganeti_tx.node.hypervisor.kvm.command.places import Place, Places
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.state import NicState

#: Devices of `nic_type` whose names differ from it.
DEVICES: Mapping[str, str] = {"paravirtual": "virtio-net-pci"}
ISA_TYPES = ("ne2k_isa",)


def nic_id(uuid: str) -> str:
    """QEMU's id of an interface."""
    return f"nic-{uuid}"


def netdev_id(uuid: str) -> str:
    """QEMU's id of the node's end of an interface."""
    return f"net-{uuid}"


def nics_argv(plan: QemuPlan, places: Places) -> list[str]:
    """All interfaces in order; the first is the one to boot from."""
    argv: list[str] = []
    for number, nic in enumerate(plan.nics):
        argv += ["-netdev", backend_option(plan.params, nic), "-device", device_option(plan, places, nic, number)]
    return argv


def backend_option(params: KvmParams, nic: NicState) -> str:
    """The node's end: a tap that is there already, or QEMU's own network stack."""
    netdev = netdev_id(nic.uuid)
    if not nic.tap:
        return option("user", id=netdev, restrict=nic.restricted)
    paravirtual = params.nic_type == "paravirtual"
    return option(
        "tap",
        id=netdev,
        ifname=nic.tap,
        script="no",
        downscript="no",
        vnet_hdr=params.vnet_hdr if paravirtual else None,
        vhost=True if paravirtual and params.vhost_net else None,
        queues=queues(params, nic) if queues(params, nic) > 1 else None,
    )


def device_option(plan: QemuPlan, places: Places, nic: NicState, number: int) -> str:
    """The guest's end."""
    index = plan.boot_index("network") if number == 0 else None
    place: Place = {} if plan.params.nic_type in ISA_TYPES else places.slot(nic_id(nic.uuid))
    device = nic_device(plan.params, nic, place)
    if index:
        device.pop("romfile", None)  # the boot ROM costs time and is needed for network boot only
    return option("", **device, bootindex=index)


def nic_device(params: KvmParams, nic: NicState, place: Place) -> dict[str, Value]:
    """The device that the guest sees, without its place in the order of booting."""
    kind = params.nic_type
    device: dict[str, Value] = {"driver": DEVICES.get(kind, kind), "id": nic_id(nic.uuid)}
    device.update({"netdev": netdev_id(nic.uuid), "mac": nic.mac, **place})
    if kind not in ISA_TYPES:
        device["romfile"] = ""
    if queues(params, nic) > 1:
        device.update(mq=True, vectors=2 * queues(params, nic) + 2)
    return device


def queues(params: KvmParams, nic: NicState) -> int:
    """How many pairs of queues: more than one only for paravirtual interfaces on taps."""
    return params.virtio_net_queues if nic.tap and params.nic_type == "paravirtual" else 1
