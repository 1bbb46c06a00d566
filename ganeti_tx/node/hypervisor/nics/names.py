"""What the node's ends of interfaces are called, and which MAC addresses they may have."""

import hashlib
import re
from pathlib import Path

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_communication import INTERFACE_PREFIX
from ganeti_tx.model.instance_spec import NicSpec

#: Characters that the kernel takes.
LONGEST = 15
DIGITS = 11
#: With which QEMU's begin.
TAP_PREFIX = "tap"
#: Of the node's end of a routed interface, on whichever node, so that what a guest knows of it stays right when the guest moves.
#: Each is on a link of its own. It is the one that Xen gives to all of its own.
NODE_MAC = "fe:ff:ff:ff:ff:ff"
_TAP = re.compile(f"({re.escape(TAP_PREFIX)}|{re.escape(INTERFACE_PREFIX)})[0-9a-f]+")
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


def interface_name(root: Path, nic: NicSpec, prefix: str) -> str:
    """One for each interface and node root, as several nodes may share a machine; that for communication is known by its name."""
    prefix = INTERFACE_PREFIX if nic.communication else prefix
    digest = hashlib.sha256(f"{root}:{nic.uuid}".encode()).hexdigest()
    return prefix + digest[: min(DIGITS, LONGEST - len(prefix))]


def is_tap_name(name: str) -> bool:
    """Whether `interface_name` gives one to taps that is so: no other interface of the node has it."""
    return _TAP.fullmatch(name) is not None


def check_mac(mac: str) -> None:
    """@raise HypervisorError: it is none."""
    if _MAC.fullmatch(mac) is None:
        raise HypervisorError(f"not a MAC address: {mac!r}")
