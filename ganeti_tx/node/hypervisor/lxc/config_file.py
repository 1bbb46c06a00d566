"""The configuration file of a container (lxc.container.conf)."""

from collections.abc import Iterator, Sequence

from ganeti_tx.model.hypervisors.lxc import LxcParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout
from ganeti_tx.node.hypervisor.lxc.parameters import cpus_of, listed
from ganeti_tx.node.hypervisor.lxc.record import VethState

MIB = 1 << 20
#: Microseconds in which a container may use each of its processors once.
PERIOD = 100_000
#: Pseudo terminals, which ssh needs in it.
PTYS = 1024


def config_text(
    spec: InstanceSpec, params: LxcParams, layout: ContainerLayout, veths: Sequence[VethState], *, unified: bool
) -> str:
    """The whole file; `unified`: the node has the second version of control groups, and no other."""
    lines = [
        *_basics(spec, params, layout),
        *_limits(spec, params, unified),
        *_devices(params, unified),
        *_interfaces(veths),
        *listed(params.extra_config),
    ]
    return "".join(f"{line}\n" for line in lines)


def _basics(spec: InstanceSpec, params: LxcParams, layout: ContainerLayout) -> Iterator[str]:
    yield f"lxc.uts.name = {spec.name}"
    yield f"lxc.rootfs.path = dir:{layout.root}"
    yield "lxc.mount.auto = proc:mixed sys:ro cgroup:mixed"
    yield f"lxc.tty.max = {params.num_ttys}"
    yield f"lxc.pty.max = {PTYS}"
    if not params.num_ttys:
        yield "lxc.console.path = none"
    if dropped := listed(params.drop_capabilities):
        yield f"lxc.cap.drop = {' '.join(dropped)}"


def _limits(spec: InstanceSpec, params: LxcParams, unified: bool) -> Iterator[str]:
    memory, vcpus = int(spec.beparams["maxmem"]) * MIB, int(spec.beparams["vcpus"])
    if unified:
        yield f"lxc.cgroup2.memory.max = {memory}"
        yield f"lxc.cgroup2.cpu.max = {vcpus * PERIOD} {PERIOD}"
    else:
        yield f"lxc.cgroup.memory.limit_in_bytes = {memory}"
        yield f"lxc.cgroup.cpu.cfs_period_us = {PERIOD}"
        yield f"lxc.cgroup.cpu.cfs_quota_us = {vcpus * PERIOD}"
    if (cpus := cpus_of(params)) is not None:
        group = "cgroup2" if unified else "cgroup"
        yield f"lxc.{group}.cpuset.cpus = {','.join(map(str, sorted(cpus)))}"


def _devices(params: LxcParams, unified: bool) -> Iterator[str]:
    group = "cgroup2" if unified else "cgroup"
    yield f"lxc.{group}.devices.deny = a"
    for device in listed(params.devices):
        yield f"lxc.{group}.devices.allow = {device}"


def _interfaces(veths: Sequence[VethState]) -> Iterator[str]:
    if not veths:
        yield "lxc.net.0.type = empty"
    for number, veth in enumerate(veths):
        yield f"lxc.net.{number}.type = phys"
        yield f"lxc.net.{number}.link = {veth.inside}"
        yield f"lxc.net.{number}.name = eth{number}"
        yield f"lxc.net.{number}.hwaddr = {veth.mac}"
        yield f"lxc.net.{number}.flags = up"
