"""What a hypervisor is declared by; all that the program knows of hypervisors is read off it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.disk_template import RAW
from ganeti_tx.model.value_form import TextForm

#: How a running instance may move: it runs on meanwhile, or it is frozen.
MIGRATION_MODES = ("live", "non-live")
#: The port of VNC's display number 0.
VNC_BASE_PORT = 5900


class ConsoleKind(StrEnum):
    """How a console is reached: a command over SSH, a display, or not at all, as a message says."""

    SSH = "ssh"
    VNC = "vnc"
    SPICE = "spice"
    MESSAGE = "msg"


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What an instance is to have: at most so many MiB of memory, and so many processors and disks."""

    memory: int
    vcpus: int
    disks: int


def nothing_unfit(hvparams: Params, shape: Shape) -> Iterable[str]:
    """A hypervisor that runs whatever can be configured."""
    return ()


def mask_misfits(hvparams: Params, shape: Shape) -> Iterator[str]:
    """A line if there are more or fewer masks than processors, one for each, though not one for all."""
    mask = hvparams.get("cpu_mask")
    masks = mask.split(":") if isinstance(mask, str) else []
    if len(masks) not in (0, 1, shape.vcpus):
        yield f"cpu_mask: {mask!r} has {len(masks)} masks for {shape.vcpus} virtual processors"


def nothing_missing(hvparams: Params, exists: Callable[[Path], bool]) -> None:
    """A hypervisor that needs nothing of its own from a machine."""


#: Values of `HypervisorKind.reaching` that do not reach what is not everybody's: kernels, and addresses that are no path.
KERNELS = "(?:/boot/[A-Za-z0-9_][A-Za-z0-9._+-]*)?"
ADDRESSES = "[^/]*"


def out_of(bounds: Mapping[str, tuple[int, int]], hvparams: Params) -> Iterator[str]:
    """A line for each number that is not within its bounds."""
    for name, (lowest, highest) in bounds.items():
        number = hvparams.get(name)
        if isinstance(number, int) and not lowest <= number <= highest:
            yield f"{name}: {number} is not between {lowest} and {highest}"


class HypervisorKind(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One hypervisor (reference: config.json, hypervisor-parameters.json).

    @ivar params: the parameters, with their built-in values.
    @ivar choices: the words or numbers that a parameter may be, for parameters that are one of some.
    @ivar bounds: of numbers, the lowest and the highest that they may be; `move_bounds`: of those that count for moves only.
    @ivar forms: what texts are like that are not one of some words.
    @ivar cluster_only: those on which both ends of a migration must agree, so that no instance or OS sets them.
    @ivar keeps: those with which something of an instance outlives its runs on a node, beside its disks.
    @ivar shared_files: those parameters that name a file which all nodes shall have as the master has it.
    @ivar reaching: those parameters with which an instance reaches into its node, as they name a file, a device or an address
        there, or say how its programs run: the pattern of those values that do not; None: all do.
    @ivar consoles: the kinds that its instances may have.
    @ivar console_program: what a console of kind ssh runs on the node: a program, or a module of this package.
    @ivar displays: the parameter that says at which address the display of a kind of console listens.
    @ivar takes_port: whether each instance gets a TCP port of the cluster's pool, for its display.
    @ivar pauses: whether an instance can be started without running.
    @ivar hotplug: whether disks and NICs come and go while an instance runs.
    @ivar copies_disks: whether an instance that moves while it runs can take along disks that only its node has.
    @ivar keys_per_migration: whether the two nodes of a migration know each other by keys that are made for it.
    @ivar from_first_disk: the parameters with which an instance starts from its first disk, whatever it has otherwise, and can
        power itself off; None: it cannot.
    @ivar confines: whether a guest is kept apart from its node, so that one may be given to whom nobody trusts.
    @ivar collectors: of the monitoring daemon, those that are about its instances.
    @ivar formats: how the bytes of a disk may lie in its file.
    @ivar by_default: whether a new cluster has it unless told otherwise.
    @ivar missing: what a machine lacks to run it with some parameters, by what files exist; None when it lacks nothing.
    @ivar unfit: why an instance with such parameters and of such a shape could never be started, a line each.
    @ivar unset: of parameters that Ganeti does not know, what is so as long as they are not set.
    @ivar kept: the directory, below the run directory, with a file or directory for each machine, and how its name ends.
    @ivar driver: the package below node/hypervisor that has its driver; None: not built, so it is not available.
    """

    params: type[Wire]
    choices: Mapping[str, Sequence[str | int]] = {}
    bounds: Mapping[str, tuple[int, int]] = {}
    move_bounds: Mapping[str, tuple[int, int]] = {}
    forms: Mapping[str, TextForm] = {}
    cluster_only: frozenset[str] = frozenset()
    keeps: frozenset[str] = frozenset()
    shared_files: tuple[str, ...] = ()
    reaching: Mapping[str, str | None] = {}
    consoles: frozenset[ConsoleKind]
    console_program: str | None = None
    displays: Mapping[ConsoleKind, str] = {}
    takes_port: bool = False
    pauses: bool = False
    hotplug: bool = False
    copies_disks: bool = False
    keys_per_migration: bool = False
    from_first_disk: Params | None = None
    confines: bool = False
    collectors: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset({RAW})
    by_default: bool = False
    missing: Callable[[Params, Callable[[Path], bool]], str | None] = nothing_missing
    unfit: Callable[[Params, Shape], Iterable[str]] = nothing_unfit
    unset: Params = {}
    kept: tuple[str, str] | None = None
    driver: str | None = None

    def has(self, parameter: str) -> bool:
        """Whether it knows a parameter."""
        return parameter in {field.encode_name for field in msgspec.structs.fields(self.params)}

    def reaches_node(self, parameter: str, value: str) -> bool:
        """Whether an instance reaches into its node by a parameter with this value, which is a text."""
        harmless = self.reaching.get(parameter)
        return parameter in self.reaching and (harmless is None or re.fullmatch(harmless, value) is None)

    def wrong_values(self, hvparams: Params) -> Iterator[str]:
        """A line for each value that nobody may set, whatever else is set."""
        yield from self.impossible_values(hvparams)
        yield from out_of(self.move_bounds, hvparams)
        for name, form in self.forms.items():
            text = hvparams.get(name)
            for wrong in form.misfits(text) if isinstance(text, str) else ():
                yield f"{name}: {wrong!r} is not {form.wanted}"

    def impossible_values(self, hvparams: Params) -> Iterator[str]:
        """A line for each of those with which nothing starts; the others a configuration of before may have, and do no harm."""
        for name, choices in self.choices.items():
            if name in hvparams and hvparams[name] not in choices:
                allowed = ", ".join("(empty)" if choice == "" else str(choice) for choice in choices)
                yield f"{name}: {hvparams[name]!r} is none of {allowed}"
        yield from out_of(self.bounds, hvparams)

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
