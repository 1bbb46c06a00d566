"""What tests of Xen's drivers are made from."""

import uuid
from pathlib import Path
from typing import Any

import msgspec
from attrs import define
from twisted.internet.testing import MemoryReactorClock

from ganeti_tx.model.hypervisors.xen_hvm import XenHvmParams
from ganeti_tx.model.hypervisors.xen_pvm import XenPvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.xen.assembled import assembled
from ganeti_tx.node.hypervisor.xen.hvm import FullyVirtual
from ganeti_tx.node.hypervisor.xen.hypervisor import XenHypervisor
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.pvm import Paravirtual
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.node.hypervisor.xen.world import World, XenNode, node

PATHS = Paths(Path("/n1"))
KERNEL, PASSWORD = Path("/boot/vmlinuz-guest"), Path("/etc/ganeti/vnc-password")
#: What tests of both stand upon.
SHOWN_WITH = "a node that is played; and one of the lab's machines, which Xen has booted (:doc:`lab-xen`)"
NAME = "web1.example.com"
KINDS: tuple[XenKind, ...] = (Paravirtual(), FullyVirtual())


@define
class PlayedParts:
    """What a driver of a played node is made from."""

    node: XenNode

    def __getattr__(self, name: str) -> Any:
        clock = self.node.world.clock
        return {
            "paths": PATHS, "files": self.node.files, "threads": InlineThreads(), "runner": self.node, "clock": clock,
            "now": clock.seconds, "reactor": MemoryReactorClock(),
        }[name]  # fmt: skip


def played_node(world: World) -> XenNode:
    """A node with a kernel for guests and a password for displays."""
    made = node(world)
    made.put(KERNEL, "kernel")
    made.put(PASSWORD, "secret\n")
    made.put(Path("/proc/self/cmdline"), "")
    return made


def driver_of(made: XenNode, kind: XenKind) -> XenHypervisor:
    """As a daemon that starts now would make it."""
    return assembled(PlayedParts(made), kind)


def xen_spec(kind: XenKind, name: str = NAME, memory: int = 64, vcpus: int = 1, **changes: Any) -> InstanceSpec:
    """An instance that can be started; `changes` are of its parameters."""
    if kind.name == "xen-pvm":
        hvparams = msgspec.to_builtins(XenPvmParams(kernel_path=str(KERNEL), xen_cmd="xl"))
    else:
        hvparams = msgspec.to_builtins(XenHvmParams(vnc_password_file=str(PASSWORD), xen_cmd="xl"))
    return InstanceSpec(
        name=name,
        uuid=str(uuid.uuid5(uuid.NAMESPACE_DNS, name or "nobody")),
        primary_node="p",
        hypervisor=kind.name,
        os="busybox",
        hvparams={**hvparams, **changes},
        beparams={"maxmem": memory, "minmem": memory, "vcpus": vcpus},
        network_port=11000,
    )
