"""The pages of the gnt-* programs: one section for each subcommand."""

from collections.abc import Iterator

from ganeti_tx.cli.options import COMMON, Command, Option
from ganeti_tx.cli.parsing import usage_of
from ganeti_tx.cli.program import Entry, Program, load
from ganeti_tx.errors import ExitCode
from ganeti_tx.installation.manual.roff import bold, escaped, paragraphs, section, subsection, tagged

STATUSES = {
    ExitCode.SUCCESS: "Everything was done.",
    ExitCode.FAILURE: "Something was not done; standard error says what and why, unless a question was answered with no.",
    ExitCode.USAGE: "An option is not known or has a value that it cannot have.",
    ExitCode.CONFIRMATION: "Nobody has said yes to gnt-job cancel or change-priority, or gnt-node evacuate or migrate.",
    ExitCode.UNKNOWN_FIELD: "A field that was asked for is not known.",
}


def gnt_body(program: Program) -> Iterator[str]:
    """All sections behind the name."""
    yield from section("SYNOPSIS", [f"{bold(program.name)} {escaped('COMMAND [OPTION...] [ARGUMENT...]')}"])
    yield from section("DESCRIPTION", paragraphs(f"{program.about}. Options stand before arguments."))
    yield from section("COMMANDS", (line for name in sorted(program.commands) for line in _command(program, name)))
    yield from section("COMMON OPTIONS", (line for option in COMMON for line in _option(option)))
    yield from section(
        "EXIT STATUS", (line for code, what in STATUSES.items() for line in tagged(str(int(code)), what))
    )
    yield from section("ENVIRONMENT", _environment(program))


def _command(program: Program, name: str) -> Iterator[str]:
    entry = program.commands[name]
    command = load(entry)
    yield from subsection(name, [f"{bold(name)} {escaped(_usage(command))}", *_meaning(program, name, entry, command)])
    for option in (*command.options, *command.own_options):
        yield from _option(option)
    yield from paragraphs(command.manual)


def _usage(command: Command) -> str:
    return f"{'[OPTION...] ' if command.options or command.own_options else ''}{usage_of(command.arguments)}".strip()


def _meaning(program: Program, name: str, entry: Entry, command: Command) -> Iterator[str]:
    yield from (".PP", escaped(f"{entry.help[0].upper()}{entry.help[1:]}."))
    others = sorted(alias for alias, meant in program.aliases.items() if meant == name)
    if others:
        yield escaped(f"Also: {', '.join(others)}.")
    if command.default_args:
        yield escaped(f"Words in the variable {command.default_args} are put before those typed.")


def _option(option: Option) -> Iterator[str]:
    value = option.metavar or option.dest.upper()
    if option.takes is not None and option.choices and not option.metavar:
        value = "|".join(option.choices)
    flags = ", ".join(f"{flag}{_value(flag, value)}" if option.takes else flag for flag in option.flags)
    shown = option.takes is not None and option.default not in (None, "", [], {}, ())
    yield from tagged(flags, option.help + (f" (default: {option.default})" if shown else ""))


def _value(flag: str, value: str) -> str:
    return f"={value}" if flag.startswith("--") else f" {value}"


def _environment(program: Program) -> Iterator[str]:
    names = {load(entry).default_args for entry in program.commands.values()} - {None}
    for name in sorted(filter(None, names)):
        yield from tagged(name, "Options that a command takes as if they were typed first.")
