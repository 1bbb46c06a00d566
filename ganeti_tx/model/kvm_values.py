"""Which numbers and texts KVM's parameters may be, whatever else is set; see also `kvm.CHOICES`."""

import re
import shlex
from collections.abc import Mapping

from ganeti_tx.model.value_form import TextForm, is_absolute, is_bind

#: The most that QEMU's machine of the kind q35 has; 16 TiB.
MAX_VCPUS = 288
MAX_MEMORY = 16 << 20
#: The kernel's, of control groups.
MAX_WEIGHT = 10_000
#: MiB in a second, of which QEMU counts the bytes with 64 bits; and milliseconds that it lets a guest stand still.
MAX_BANDWIDTH = (1 << 44) - 1
MAX_DOWNTIME = 2_000_000
MAX_PORT = 65535

BOUNDS: Mapping[str, tuple[int, int]] = {
    "virtio_net_queues": (1, 8),
    "kvm_pci_reservations": (0, 31),
    "cpu_cores": (0, 1024),
    "cpu_threads": (0, 1024),
    "cpu_sockets": (0, 1024),
    "max_vcpus": (0, MAX_VCPUS),
    "max_memory": (0, MAX_MEMORY),
    "cpu_limit": (0, 100 * MAX_VCPUS),
    "memory_limit": (0, MAX_MEMORY),
    "cpu_weight": (1, MAX_WEIGHT),
    "io_weight": (1, MAX_WEIGHT),
}
MOVE_BOUNDS: Mapping[str, tuple[int, int]] = {
    "migration_bandwidth": (0, MAX_BANDWIDTH),
    "migration_downtime": (0, MAX_DOWNTIME),
    "migration_port": (1, MAX_PORT),
}

#: What some QEMU up to version 10 can be told of a migration; besides, there are those that begin with x- and come and go.
CAPABILITIES = (
    *("auto-converge", "background-snapshot", "block", "compress", "dirty-bitmaps", "dirty-limit", "events"),
    *("late-block-activate", "mapped-ram", "multifd", "pause-before-switchover", "postcopy-blocktime"),
    *("postcopy-preempt", "postcopy-ram", "rdma-pin-all", "release-ram", "return-path", "switchover-ack"),
    *("validate-uuid", "xbzrle", "zero-blocks", "zero-copy-send"),
)
_KEYMAP = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


def is_keymap(text: str) -> bool:
    """Whether a keyboard's layout may be called so; QEMU reads one from a file, too, that it is told."""
    return is_absolute(text) or _KEYMAP.fullmatch(text) is not None


def is_capability(text: str) -> bool:
    """Whether there is a QEMU that may know it."""
    return text in CAPABILITIES or re.fullmatch(r"x-[a-z0-9-]+", text) is not None


def is_quoted(text: str) -> bool:
    """Whether a shell could cut it into words."""
    try:
        shlex.split(text)
    except ValueError:
        return False
    return True


FORMS: Mapping[str, TextForm] = {
    "kvm_extra": TextForm(is_quoted, "words with all their quotes closed"),
    "keymap": TextForm(is_keymap, "the name of a keyboard's layout, such as fr or en-gb"),
    "migration_caps": TextForm(
        is_capability,
        f"an ability of QEMU to migrate; known are {', '.join(CAPABILITIES)}",
        items=lambda text: text.split(":"),
    ),
    "spice_bind": TextForm(is_bind, "an IP address or the name of an interface"),
    "vnc_bind_address": TextForm(
        lambda text: is_bind(text) or is_absolute(text),
        "an IP address, the name of an interface, or the path of a directory for a socket",
    ),
}
