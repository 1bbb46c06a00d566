"""Network interfaces: the end in the node and the end in the guest."""

from collections.abc import Mapping

from ganeti_tx.node.hypervisor.kvm.command.options import Value, option
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.command.slots import PciSlots
from ganeti_tx.node.hypervisor.kvm.state import NicState

#: Devices of `nic_type` whose names differ from it.
DEVICES: Mapping[str, str] = {"paravirtual": "virtio-net-pci"}
ISA_TYPES = ("ne2k_isa",)


def nic_id(uuid: str) -> str:
    """QEMU's id of an interface."""
    return f"nic-{uuid}"


def nics_argv(plan: QemuPlan, slots: PciSlots) -> list[str]:
    """All interfaces in order; the first is the one to boot from."""
    argv: list[str] = []
    for place, nic in enumerate(plan.nics):
        argv += ["-netdev", backend_option(plan, nic), "-device", device_option(plan, slots, nic, place)]
    return argv


def backend_option(plan: QemuPlan, nic: NicState) -> str:
    """The node's end: a tap that is there already, or QEMU's own network stack."""
    netdev = f"net-{nic.uuid}"
    if not nic.tap:
        return option("user", id=netdev, restrict=nic.restricted)
    paravirtual = plan.params.nic_type == "paravirtual"
    return option(
        "tap",
        id=netdev,
        ifname=nic.tap,
        script="no",
        downscript="no",
        vnet_hdr=plan.params.vnet_hdr if paravirtual else None,
        vhost=True if paravirtual and plan.params.vhost_net else None,
        queues=queues(plan, nic) if queues(plan, nic) > 1 else None,
    )


def device_option(plan: QemuPlan, slots: PciSlots, nic: NicState, place: int) -> str:
    """The guest's end."""
    kind = plan.params.nic_type
    index = plan.boot_index("network") if place == 0 else None
    values: dict[str, Value] = {"id": nic_id(nic.uuid), "netdev": f"net-{nic.uuid}", "mac": nic.mac}
    if kind not in ISA_TYPES:
        values.update(slots.take())
        values["romfile"] = None if index else ""  # the boot ROM costs time and is needed for network boot only
    if queues(plan, nic) > 1:
        values.update(mq=True, vectors=2 * queues(plan, nic) + 2)
    return option(DEVICES.get(kind, kind), **values, bootindex=index)


def queues(plan: QemuPlan, nic: NicState) -> int:
    """How many pairs of queues: more than one only for paravirtual interfaces on taps."""
    return plan.params.virtio_net_queues if nic.tap and plan.params.nic_type == "paravirtual" else 1
