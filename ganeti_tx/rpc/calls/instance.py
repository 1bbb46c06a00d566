"""Calls about instances."""

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.rpc.calls.base import NORMAL, ONE_DAY, SLOW, URGENT, NodeCall, Question
from ganeti_tx.rpc.calls.disk import disk_tree


def named(instance_name: str) -> str:
    """An instance among all that calls have for themselves."""
    return f"instance {instance_name}"


def instance_with_disks(instance: InstanceSpec) -> list[str]:
    """An instance and all its disks."""
    return [named(instance.name), *(name for disk in instance.disks for name in disk_tree(disk))]


class RunningInstance(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An instance as its hypervisor sees it: memory in MiB, CPU time in seconds.

    @ivar state: 0 running, 1 shut down by its user, 2 halted by its hypervisor after an error.
    @ivar why: that error; or why it is not reached though it runs.
    @ivar uuid: that of the instance for which it was started ('': its node does not know).
    @ivar ended_by: a command of its node that ends it, when it belongs to nobody.
    @ivar hypervisor: under which it runs ('': an older node does not say).
    @ivar others: what has the same name on that node under other hypervisors.
    """

    memory: int
    vcpus: int
    state: int
    time: float
    why: str = ""
    uuid: str = ""
    ended_by: str = ""
    hypervisor: str = ""
    others: tuple["RunningInstance", ...] = ()

    def is_of(self, instance: Instance) -> bool:
        """Whether it is that instance's, as far as is known: names are used again, also under another hypervisor."""
        return self.uuid in ("", instance.uuid) and self.hypervisor in ("", instance.hypervisor.value)

    def machines(self) -> tuple["RunningInstance", ...]:
        """All that has its name on its node."""
        return (self, *self.others)

    def own(self, instance: Instance) -> "RunningInstance | None":
        """Which of them is that instance's, if any is."""
        return next((each for each in self.machines() if each.is_of(instance)), None)


class AllInstancesInfo(Question[dict[str, RunningInstance]], frozen=True, kw_only=True):
    """Everything that these hypervisors run, by instance name."""

    name: ClassVar[str] = "all_instances_info"
    timeout: ClassVar[float] = URGENT
    hypervisors: list[str]


class InstanceInfo(Question[RunningInstance | None], frozen=True, kw_only=True):
    """What has an instance's name, or nothing; `RunningInstance.own` tells which of it is the instance's.

    @ivar hypervisor: the instance's; what runs under the others that the node knows is told, too.
    """

    name: ClassVar[str] = "instance_info"
    timeout: ClassVar[float] = URGENT
    instance_name: str
    hypervisor: str

    @classmethod
    def of(cls, instance: Instance) -> "InstanceInfo":
        """Of this one's name."""
        return cls(instance_name=instance.name, hypervisor=instance.hypervisor.value)


class InstanceStart(NodeCall[str | None], frozen=True, kw_only=True):
    """Make the disks ready and start the instance. Answers why it runs without being told of itself, if it does.

    @ivar variables: what the metadata daemon tells it that OS scripts are told, beside what is so for every instance.
    """

    name: ClassVar[str] = "instance_start"
    in_lines: ClassVar[bool] = True
    instance: InstanceSpec
    startup_paused: bool = False
    variables: dict[str, str] = {}

    def reserves(self) -> Iterable[str]:
        """The instance and its disks."""
        return instance_with_disks(self.instance)


class InstanceForget(NodeCall[None], frozen=True, kw_only=True):
    """Remove what the node keeps of the instance from run to run: it is removed, and so are its disks."""

    name: ClassVar[str] = "instance_forget"
    instance: InstanceSpec

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceShutdown(NodeCall[str | None], frozen=True, kw_only=True):
    """Stop the instance: ask, wait `shutdown_timeout` seconds, cut off; at once with `force`. The disks stay ready.

    Answers what went wrong with the asking, if anything, or that the machine of this name is another instance's and is left alone.

    @ivar instance_uuid: that of the instance; '': whatever has its name is stopped.
    """

    name: ClassVar[str] = "instance_shutdown"
    instance_name: str
    hypervisor: str
    shutdown_timeout: float
    force: bool = False
    instance_uuid: str = ""

    def reserves(self) -> Iterable[str]:
        """The instance; its disks stay as they are."""
        return [named(self.instance_name)]

    def time_limit(self) -> float:
        """The wait for the guest, and the usual time."""
        return self.shutdown_timeout + NORMAL


class InstanceReboot(NodeCall[str | None], frozen=True, kw_only=True):
    """Restart from inside the hypervisor ("soft") or by stopping and starting ("hard").

    Answers as InstanceShutdown and InstanceStart do.
    """

    name: ClassVar[str] = "instance_reboot"
    instance: InstanceSpec
    reboot_type: str
    shutdown_timeout: float

    def reserves(self) -> Iterable[str]:
        """The instance and its disks."""
        return instance_with_disks(self.instance)

    def time_limit(self) -> float:
        """The wait for the guest, and the usual time."""
        return self.shutdown_timeout + NORMAL


class InstanceOsAdd(NodeCall[None], frozen=True, kw_only=True):
    """Run the OS definition's create script on the ready disks."""

    name: ClassVar[str] = "instance_os_add"
    timeout: ClassVar[float] = ONE_DAY
    instance: InstanceSpec
    reinstall: bool = False
    debug: int = 0

    def reserves(self) -> Iterable[str]:
        """The instance and its disks."""
        return instance_with_disks(self.instance)


class InstanceRunRename(NodeCall[None], frozen=True, kw_only=True):
    """Run the OS definition's rename script on the disks, which are made ready; the instance has its new name already."""

    name: ClassVar[str] = "instance_run_rename"
    timeout: ClassVar[float] = SLOW
    instance: InstanceSpec
    old_name: str
    debug: int = 0

    def reserves(self) -> Iterable[str]:
        """The instance, by both names, and its disks."""
        return [*instance_with_disks(self.instance), named(self.old_name)]


class InstanceConsole(Question[ToldConsole], frozen=True, kw_only=True):
    """How to reach the console."""

    name: ClassVar[str] = "instance_console_info"
    timeout: ClassVar[float] = URGENT
    instance: InstanceSpec


class InstanceConsoles(Question[dict[str, ToldConsole]], frozen=True, kw_only=True):
    """As InstanceConsole, by name, for all of these at once; one of which the node cannot tell is left out."""

    name: ClassVar[str] = "instance_consoles"
    timeout: ClassVar[float] = URGENT
    instances: list[InstanceSpec]


class HypervisorValidateParams(Question[None], frozen=True, kw_only=True):
    """Can the node run an instance with these filled parameters, and does it have what `instance` would be started from?"""

    name: ClassVar[str] = "hypervisor_validate_params"
    hypervisor: str
    hvparams: dict[str, Any]
    instance: InstanceSpec | None = None

    @classmethod
    def of(cls, instance: InstanceSpec) -> "HypervisorValidateParams":
        """Whether this one could be started."""
        return cls(hypervisor=instance.hypervisor, hvparams=instance.hvparams, instance=instance)
