"""The small devices: consoles for us and the guest, memory balloon, USB, sound."""

import re
from collections.abc import Mapping

from ganeti_tx.node.hypervisor.kvm.command.options import listening_socket, option
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan

SOUND: Mapping[str, str] = {
    "ac97": "AC97",
    "es1370": "ES1370",
    "sb16": "sb16",
    "gus": "gus",
    "cs4231a": "cs4231a",
    "adlib": "adlib",
}


def control_argv(plan: QemuPlan) -> list[str]:
    """Our control socket, and one for people."""
    return [
        *listening_socket("qmp", plan.files.qmp),
        *("-mon", option("", chardev="qmp", mode="control")),
        *listening_socket("monitor", plan.files.monitor),
        *("-mon", option("", chardev="monitor", mode="readline")),
    ]


def serial_argv(plan: QemuPlan) -> list[str]:
    """The serial console."""
    if not plan.params.serial_console:
        return []
    return [*listening_socket("serial", plan.files.serial), "-device", option("isa-serial", chardev="serial")]


def balloon_argv() -> list[str]:
    """By which memory is taken from and given to the running guest."""
    return ["-device", option("virtio-balloon-pci", id="balloon")]


def virtio_serial_argv(plan: QemuPlan) -> list[str]:
    """The bus for the agents inside the guest, and the guest agent's port."""
    params = plan.params
    argv: list[str] = []
    if params.use_guest_agent or (params.spice_bind and params.spice_use_vdagent):
        argv += ["-device", option("virtio-serial-pci", id="agents")]
    if params.use_guest_agent:
        argv += listening_socket("agent", plan.files.guest_agent)
        argv += ["-device", option("virtserialport", chardev="agent", name="org.qemu.guest_agent.0")]
    return argv


def usb_argv(plan: QemuPlan) -> list[str]:
    """The mouse and other devices on USB."""
    params = plan.params
    devices = [f"usb-{params.usb_mouse}"] if params.usb_mouse else []
    devices += [device for device in re.split(r"[,\s]+", params.usb_devices) if device]
    argv = ["-usb"] if devices else []
    for device in devices:
        argv += ["-device", device]
    return argv


def sound_argv(plan: QemuPlan) -> list[str]:
    """A sound card whose sound goes over SPICE, or nowhere."""
    card = plan.params.soundhw
    if not card:
        return []
    argv = ["-audiodev", option("spice" if plan.params.spice_bind else "none", id="sound")]
    if card == "hda":
        return [*argv, "-device", "intel-hda", "-device", option("hda-duplex", audiodev="sound")]
    return [*argv, "-device", option(SOUND[card], audiodev="sound")]
