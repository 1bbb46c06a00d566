"""The small devices: consoles for us and the guest, memory balloon, USB, sound."""

import re
from collections.abc import Mapping

from ganeti_tx.errors import HypervisorError
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

#: A card of two devices, and the word for all cards.
HDA, ALL_CARDS = "hda", "all"
#: What QEMU's former option -usbdevice called its devices.
USB: Mapping[str, str] = {
    "braille": "usb-braille",
    "keyboard": "usb-kbd",
    "mouse": "usb-mouse",
    "tablet": "usb-tablet",
    "wacom-tablet": "usb-wacom-tablet",
}
_USB_PLACE = re.compile(r"(\d{1,3})\.(\d{1,3})")
_USB_NUMBERS = re.compile(r"([0-9a-fA-F]{4}):([0-9a-fA-F]{4})")


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
    devices += [usb_device(item) for item in words(params.usb_devices)]
    argv = ["-usb"] if devices else []
    for device in devices:
        argv += ["-device", device]
    return argv


def words(text: str) -> list[str]:
    """Items apart by commas or spaces."""
    return [item for item in re.split(r"[,\s]+", text) if item]


def usb_device(item: str) -> str:
    """The device of one item, which may be a short name of QEMU's former option -usbdevice.

    @raise HypervisorError: a device of the node that is named otherwise than by its place or its numbers.
    """
    kind, _, which = item.partition(":")
    if kind != "host":
        return USB.get(item, item)
    if place := _USB_PLACE.fullmatch(which):
        return option("usb-host", hostbus=place[1], hostaddr=place[2])
    if numbers := _USB_NUMBERS.fullmatch(which):
        return option("usb-host", vendorid=f"0x{numbers[1]}", productid=f"0x{numbers[2]}")
    raise HypervisorError(f"usb_devices: {item!r} is neither host:BUS.ADDRESS nor host:VENDOR:PRODUCT")


def sound_cards(text: str) -> list[str]:
    """The cards of the parameter `soundhw`."""
    return [*SOUND, HDA] if text == ALL_CARDS else words(text)


def sound_argv(plan: QemuPlan) -> list[str]:
    """Sound cards whose sound goes over SPICE, or nowhere."""
    cards = sound_cards(plan.params.soundhw)
    argv = ["-audiodev", option("spice" if plan.params.spice_bind else "none", id="sound")] if cards else []
    for card in cards:
        if card == HDA:
            argv += ["-device", "intel-hda", "-device", option("hda-duplex", audiodev="sound")]
        else:
            argv += ["-device", option(SOUND[card], audiodev="sound")]
    return argv
