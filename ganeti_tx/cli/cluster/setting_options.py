"""The options by which `init` and `modify` set what the cluster declares as its settings, and how their values are read."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ganeti_tx.cli import declared_parameters
from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.options import Option
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.typed_options import by_ident, by_place, number, split_words, uid_ranges
from ganeti_tx.cli.values import InvalidValue, parse_bool, parse_float
from ganeti_tx.model.settings.setting import Flag, Program, Reading, Setting


def options_of(settings: Iterable[Setting], program: Program) -> tuple[Option, ...]:
    """What a command takes for them, in their order."""
    return tuple(_option(flag) for setting in settings for flag in setting.flags_on(program))


def _option(flag: Flag) -> Option:
    return Option(
        tuple(flag.spelled.split()), flag.sets, flag.help, flag.takes, flag.default, flag.action, flag.choices,
        metavar=flag.metavar, old_flags=flag.old, own=flag.own,
    )  # fmt: skip


def values_of(settings: Iterable[Setting], program: Program, options: Parsed) -> dict[str, Any]:
    """What was given, by parameter; None for what was not.

    @raise UsageError: an option that cannot be read. @raise TypeEnforcementError: a parameter that does not fit.
    """
    return {
        flag.sets: READERS[flag.reading](flag.spelled.split()[-1], getattr(options, flag.sets))
        for setting in settings
        for flag in setting.flags_on(program)
    }


def _typed(table: Mapping[str, str], what: str) -> Callable[[str, Any], Any]:
    return lambda flag, given: types.typed(given or {}, table, what) or None


def _by_ident(table: Mapping[str, str], what: str) -> Callable[[str, Any], Any]:
    return lambda flag, given: by_ident(flag, given, table, what) or None


def _each(what: str, read: Callable[[str], Any]) -> Callable[[str, Any], Any]:
    """NAME=VALUE,... with values of one kind."""

    def values(flag: str, given: Mapping[str, Any]) -> dict[str, Any] | None:
        found = {}
        for name, value in given.items():
            try:
                found[name] = value if isinstance(value, bool) else read(str(value))
            except InvalidValue as error:
                raise UsageError(f"{what} {name!r}: {error}") from None
        return found or None

    return values


def _microseconds(text: str) -> int:
    return round(parse_float(text) * 1_000_000)


#: Each takes the option, for errors, and what was given.
READERS: Mapping[Reading, Callable[[str, Any], Any]] = {
    Reading.AS_TAKEN: lambda flag, given: given,
    Reading.BACKEND: _typed(types.BACKEND, "backend"),
    Reading.DISK_TEMPLATES: _by_ident(declared_parameters.DISK_TEMPLATE, "disk template"),
    Reading.HYPERVISORS: _by_ident(declared_parameters.HYPERVISOR, "hypervisor"),
    Reading.NIC: _typed(types.NIC, "NIC"),
    Reading.NODE: _typed(types.NODE, "node"),
    Reading.NUMBER: number,
    Reading.SECONDS: _each("data collector", _microseconds),
    Reading.STATES: lambda flag, given: by_place(flag, given, "state") or None,
    Reading.SWITCHES: _each("data collector", parse_bool),
    Reading.UIDS: uid_ranges,
    Reading.WORDS: lambda flag, given: split_words(given),
}
