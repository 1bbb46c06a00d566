"""What tests of the KVM driver are made from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.acceleration import Acceleration
from ganeti_tx.node.hypervisor.kvm.command.places import Place
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.hypervisor.kvm.state import NicState
from ganeti_tx.runtime.paths import Paths

PATHS = Paths(Path("/n1"))
NAME = "web1.example.com"
MAC = "aa:00:00:00:00:01"
NIC = NicSpec(uuid="n0", mac=MAC, mode="bridged", link="br0")
NIC_STATE = NicState(uuid="n0", mac=MAC, mode="bridged", link="br0", tap="tap0")


def kvm_spec(
    nics: Sequence[NicSpec] = (), network_port: int | None = 11000, name: str = NAME, vcpus: int = 2, **hvparams: Any
) -> InstanceSpec:
    """An instance that boots from its disk, unless its parameters say otherwise."""
    filled = msgspec.to_builtins(KvmParams(kernel_path=""))
    return InstanceSpec(
        name=name,
        uuid="0a1b2c3d-0000-4000-8000-000000000001",
        primary_node="p",
        hypervisor="kvm",
        os="busybox",
        hvparams={**filled, **hvparams},
        beparams={"maxmem": 128, "minmem": 128, "vcpus": vcpus},
        nics=list(nics),
        network_port=network_port,
    )


def attached(number: int = 0, mode: str = "rw", path: str = "", uri: str | None = None) -> AttachedDisk:
    """A disk that is ready."""
    spec = DiskSpec(uuid=f"d{number}", dev_type="file", size=64, logical_id=["loop", "x"], mode=mode)
    return AttachedDisk(spec, path or f"/srv/disk{number}", uri)


def qemu_plan(
    disks: Sequence[AttachedDisk] | None = None,
    nics: Sequence[NicState] = (NIC_STATE,),
    acceleration: Acceleration = Acceleration.TCG,
    run_as: str = "",
    network_port: int | None = 11000,
    places: Mapping[str, Place] = {},
    **params: Any,
) -> QemuPlan:
    """A plan with one disk and one interface."""
    spec = kvm_spec([NIC], network_port, **params)
    typed = msgspec.convert(spec.hvparams, KvmParams)
    files = instance_layout(PATHS, spec.name)
    return QemuPlan(spec, typed, [attached()] if disks is None else disks, nics, files, acceleration, run_as, places)


def value_after(argv: Sequence[str], name: str) -> str:
    """The value of an argument that is there once."""
    assert argv.count(name) == 1, (name, argv)
    return argv[argv.index(name) + 1]


def values_after(argv: Sequence[str], name: str) -> list[str]:
    """All values of an argument."""
    return [argv[place + 1] for place, word in enumerate(argv) if word == name]
