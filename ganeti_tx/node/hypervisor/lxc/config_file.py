"""The configuration file of a container (lxc.container.conf)."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ganeti_tx.model.hypervisors.lxc import LxcParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.value_form import listed
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout
from ganeti_tx.node.hypervisor.lxc.parameters import cpus_of
from ganeti_tx.node.hypervisor.lxc.record import VethState

MIB = 1 << 20
#: Microseconds in which a container may use each of its processors once.
PERIOD = 100_000
#: Pseudo terminals, which ssh needs in it.
PTYS = 1024
#: LXC's list of system calls that no container needs, such as those that load another kernel.
SECCOMP = Path("/usr/share/lxc/config/common.seccomp")
#: With these a guest would read and change what is the node's, whatever `drop_capabilities` says: they are newer than it, or there
#: for programs that drive the machine itself.
NEVER = ("bpf", "mac_admin", "perfmon", "syslog", "sys_rawio")
#: Below /proc: what belongs to the whole machine, and what nobody may look at.
READ_ONLY = ("bus", "fs", "irq")
HIDDEN = ("kcore",)


def config_text(
    spec: InstanceSpec,
    params: LxcParams,
    layout: ContainerLayout,
    veths: Sequence[VethState],
    *,
    unified: bool,
    seccomp: bool,
) -> str:
    """The whole file; `unified`: the node has the second version of control groups, and no other;
    `seccomp`: it has LXC's list of system calls.
    """
    lines = [
        *_basics(spec, params, layout),
        *_walls(params, layout),
        *([f"lxc.seccomp.profile = {SECCOMP}"] if seccomp else []),
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
    yield from (f"lxc.mount.entry = /proc/{name} proc/{name} none bind,ro,optional 0 0" for name in READ_ONLY)
    yield from (f"lxc.mount.entry = /dev/null proc/{name} none bind,ro,optional 0 0" for name in HIDDEN)
    yield f"lxc.tty.max = {params.num_ttys}"
    yield f"lxc.pty.max = {PTYS}"
    if not params.num_ttys:
        yield "lxc.console.path = none"


def _walls(params: LxcParams, layout: ContainerLayout) -> Iterator[str]:
    """The limits are those of a control group above the one that the guest sees and may change."""
    yield f"lxc.cap.drop = {' '.join(dict.fromkeys((*listed(params.drop_capabilities), *NEVER)))}"
    place = hashlib.sha256(str(layout.directory).encode()).hexdigest()[:8]
    yield f"lxc.cgroup.dir.container = ganeti.lxc/{layout.name}-{place}"
    yield "lxc.cgroup.dir.container.inner = guest"
    yield f"lxc.cgroup.dir.monitor = ganeti.lxc.monitor/{layout.name}-{place}"


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
