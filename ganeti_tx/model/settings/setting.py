"""How a setting of the cluster is declared: once, at its field of the cluster object. All who set, show or keep it read that."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from ganeti_tx.model.values import Params


class Program(StrEnum):
    """Which commands have an option."""

    INIT = "init"
    MODIFY = "modify"


BOTH = (Program.INIT, Program.MODIFY)


class Reading(StrEnum):
    """How the value of an option becomes the parameter's; AS_TAKEN is in its form already."""

    AS_TAKEN = "as taken"
    BACKEND = "backend parameters"
    DISK_TEMPLATES = "parameters by disk template"
    HYPERVISORS = "parameters by hypervisor"
    NIC = "NIC parameters"
    NODE = "node parameters"
    NUMBER = "a number"
    SECONDS = "seconds by data collector"
    STATES = "state by name"
    SWITCHES = "yes or no by data collector"
    UIDS = "ranges of user ids"
    WORDS = "words between commas"


class Flag(msgspec.Struct, frozen=True, eq=False):
    """One option that sets a setting (Ganeti 3.0 command line table).

    @param spelled: the spellings, between spaces. @param takes: a type name of that table. @param sets: the parameter, if
        not the setting's first one.
    """

    spelled: str
    help: str
    takes: str | None = "string"
    metavar: str | None = None
    reading: Reading = Reading.AS_TAKEN
    on: tuple[Program, ...] = BOTH
    default: Any = None
    action: str = "store"
    choices: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    own: bool = False
    sets: str = ""


class Section(StrEnum):
    """Where `gnt-cluster info` shows something; within its section it stands as declared."""

    ABOVE = "above the cluster's parameters"
    PARAMETERS = "among the cluster's parameters"
    BELOW = "below the cluster's parameters"


class Form(StrEnum):
    """How `gnt-cluster info` shows a value."""

    AS_IS = "as it is"
    COLLECTORS = "data collectors, with their intervals"
    ENABLED = "of hypervisors that are enabled"
    NUMBER = "a number, maybe in Roman"
    POLICY = "instance policy"
    UIDS = "ranges of user ids"
    WORDS = "with commas"
    WORDS_OR_NONE = "with commas, (none) when empty"


class Fact(msgspec.Struct, frozen=True, eq=False):
    """What is told of a setting: over LUXI and the Remote API by `name`, by `gnt-cluster info` under `label`.

    @param name: if not the setting's. @param read: of what is stored, if not the same. @param type: if not the field's.
    """

    label: str = ""
    form: Form = Form.AS_IS
    section: Section = Section.PARAMETERS
    name: str = ""
    read: Callable[[Any], Any] | None = None
    type: Any = None


class Setting(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """All that is known of a setting; the field that it annotates gives its name and type.

    OP_CLUSTER_SET_PARAMS changes it by a `parameter` that `takes` a type, and by `more` of them; `init` by those that its
    flags set. What differs from the field's name and type is named only.
    """

    name: str = ""
    #: In configurations that were written without it, and in new clusters; as stored.
    default: Any = UNSET
    #: In new clusters, where that is something else.
    initial: Any = UNSET
    #: Takes the name and a value that was given; the value to store. @raise OpPrereqError: it cannot be.
    check: Callable[[str, Any], Any] | None = None
    #: Takes what is stored and each parameter, None where not given; what to store. For what is not just replaced.
    change: Callable[..., Any] | None = None
    parameter: str = ""
    takes: Any = None
    more: Mapping[str, Any] = {}
    #: Whether there is a parameter at all.
    changes: bool = True
    flags: tuple[Flag, ...] = ()
    facts: tuple[Fact, ...] = (Fact(),)
    #: Whether the Remote API takes it (Ganeti 3.0 RAPI table).
    remote: bool = True
    #: Whether LUXI's QueryConfigValues tells it (Ganeti 3.0 LUXI table).
    single: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """The types of the opcode's parameters, by name."""
        return {self.parameter: self.takes, **self.more} if self.changes else {}

    @property
    def at_first(self) -> Any:
        """What a new cluster has; UNSET where something else determines it."""
        return self.default if self.initial is UNSET else self.initial

    @property
    def is_by_name(self) -> bool:
        """Whether it is several tables of parameters, which are changed one by one (of hypervisors, templates ...)."""
        return get_origin(self.takes) is dict and get_args(self.takes)[1] == Params

    def flags_on(self, program: Program) -> tuple[Flag, ...]:
        """The options that a command has."""
        return tuple(flag for flag in self.flags if program in flag.on)

    def stored(self, held: Any, given: Mapping[str, Any]) -> Any:
        """What to store when parameters are given. @raise OpPrereqError, ParameterError, TypeEnforcementError: they do not fit."""
        values = [given.get(name) for name in (self.parameter, *self.more)]
        if self.change is not None:
            return self.change(held, *values)
        return values[0] if self.check is None else self.check(self.parameter, values[0])


def bound(name: str, kind: Any, setting: Setting) -> Setting:
    """A declaration with the name and type of its field in it wherever it says nothing else."""
    parameter = setting.parameter or name
    return replace(
        setting,
        name=name,
        parameter=parameter,
        takes=setting.takes or without_none(kind),
        flags=tuple(replace(flag, sets=flag.sets or parameter) for flag in setting.flags),
        facts=tuple(replace(fact, name=fact.name or name, type=fact.type or kind) for fact in setting.facts),
    )


def without_none(kind: Any) -> Any:
    """The type without None."""
    args = tuple(arg for arg in get_args(kind) if arg is not type(None))
    return args[0] if len(args) == 1 and type(None) in get_args(kind) else kind


def settings_of(cluster: type[msgspec.Struct]) -> tuple[Setting, ...]:
    """The settings that a cluster object declares, in their order."""
    found: list[Setting] = []
    for name, hint in get_type_hints(cluster, include_extras=True).items():
        if get_origin(hint) is Annotated:
            kind, *extras = get_args(hint)
            found.extend(bound(name, kind, extra) for extra in extras if isinstance(extra, Setting))
    return tuple(found)


def parameters_of(settings: Iterable[Setting]) -> dict[str, Any]:
    """The types of the parameters of OP_CLUSTER_SET_PARAMS, by name."""
    return {name: kind for setting in settings for name, kind in setting.parameters.items()}


def changed(cluster: Any, settings: Iterable[Setting], given: Mapping[str, Any]) -> dict[str, Any]:
    """What to store of the settings that parameters are given for, by their names.

    @raise OpPrereqError, ParameterError, TypeEnforcementError: one cannot be set, or does not fit.
    """
    touched = [setting for setting in settings if not given.keys().isdisjoint(setting.parameters)]
    return {setting.name: setting.stored(getattr(cluster, setting.name), given) for setting in touched}
