"""What a hypervisor is declared by; all that the program knows of hypervisors is read off it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from ganeti_tx.model.base import Params, Wire

#: How a running instance may move: it runs on meanwhile, or it is frozen.
MIGRATION_MODES = ("live", "non-live")


class ConsoleKind(StrEnum):
    """How a console is reached: a command over SSH, a display, or not at all, as a message says."""

    SSH = "ssh"
    VNC = "vnc"
    SPICE = "spice"
    MESSAGE = "msg"


def nothing_missing(hvparams: Params, exists: Callable[[Path], bool]) -> None:
    """A hypervisor that needs nothing of its own from a machine."""


class HypervisorKind(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One hypervisor (reference: config.json, hypervisor-parameters.json).

    @ivar params: the parameters, with their built-in values.
    @ivar choices: the words or numbers that a parameter may be, for parameters that are one of some.
    @ivar cluster_only: those on which both ends of a migration must agree, so that no instance or OS sets them.
    @ivar keeps: those with which something of an instance outlives its runs on a node, beside its disks.
    @ivar shared_files: those parameters that name a file which all nodes shall have as the master has it.
    @ivar consoles: the kinds that its instances may have.
    @ivar takes_port: whether each instance gets a TCP port of the cluster's pool, for its display.
    @ivar pauses: whether an instance can be started without running.
    @ivar hotplug: whether disks and NICs come and go while an instance runs.
    @ivar from_first_disk: the parameters with which an instance starts from its first disk, whatever it has otherwise, and can
        power itself off; None: it cannot.
    @ivar confines: whether a guest is kept apart from its node, so that one may be given to whom nobody trusts.
    @ivar collectors: of the monitoring daemon, those that are about its instances.
    @ivar by_default: whether a new cluster has it unless told otherwise.
    @ivar missing: what a machine lacks to run it with some parameters, by what files exist; None when it lacks nothing.
    @ivar kept: the directory, below the run directory, with a file or directory for each machine, and how its name ends.
    @ivar driver: the package below node/hypervisor that has its driver; None: not built, so it is not available.
    """

    params: type[Wire]
    choices: Mapping[str, Sequence[str | int]] = {}
    cluster_only: frozenset[str] = frozenset()
    keeps: frozenset[str] = frozenset()
    shared_files: tuple[str, ...] = ()
    consoles: frozenset[ConsoleKind]
    takes_port: bool = False
    pauses: bool = False
    hotplug: bool = False
    from_first_disk: Params | None = None
    confines: bool = False
    collectors: frozenset[str] = frozenset()
    by_default: bool = False
    missing: Callable[[Params, Callable[[Path], bool]], str | None] = nothing_missing
    kept: tuple[str, str] | None = None
    driver: str | None = None

    def has(self, parameter: str) -> bool:
        """Whether it knows a parameter."""
        return parameter in {field.encode_name for field in msgspec.structs.fields(self.params)}

    def unknown_values(self, hvparams: Params) -> Iterator[str]:
        """A line for each parameter that is none of its choices."""
        for name, choices in self.choices.items():
            if name in hvparams and hvparams[name] not in choices:
                allowed = ", ".join("(empty)" if choice == "" else str(choice) for choice in choices)
                yield f"{name}: {hvparams[name]!r} is none of {allowed}"

    @property
    def migrates(self) -> bool:
        """Whether running instances can move to another node."""
        return self.has("migration_mode")

    @property
    def pins_cpus(self) -> bool:
        """Whether instances can be kept to some of a node's processors."""
        return self.has("cpu_mask")

    @property
    def available(self) -> bool:
        """Whether instances can run under it."""
        return self.driver is not None
