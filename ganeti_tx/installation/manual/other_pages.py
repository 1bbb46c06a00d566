"""The pages of the other programs: those with a parser of argparse, and the daemons with Twisted's options."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from twisted.python import usage

from ganeti_tx.installation.manual.roff import bold, escaped, paragraphs, section, subsection, tagged


def parser_body(parser: argparse.ArgumentParser) -> Iterator[str]:
    """All sections behind the name."""
    usage_words = " ".join(parser.format_usage().split()).removeprefix("usage: ").removeprefix(parser.prog)
    yield from section("SYNOPSIS", [f"{bold(parser.prog)} {escaped(usage_words.strip())}"])
    yield from section("DESCRIPTION", paragraphs(parser.description or ""))
    yield from section("OPTIONS", _actions(parser))
    yield from section("COMMANDS", (line for name, inner in _commands(parser) for line in _command(name, inner)))


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    deeper = _commands(parser)
    if deeper:
        for inner_name, inner in deeper:
            yield from _command(f"{name} {inner_name}", inner)
        return
    yield from subsection(name, paragraphs(parser.description or ""))
    yield from _actions(parser)


def _commands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    """Subcommands; one that says nothing of itself has what the list of commands says."""
    found: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            told: Mapping[str, str | None] = {each.dest: each.help for each in action._choices_actions}
            for name, inner in action.choices.items():
                inner.description = inner.description or _sentence(told.get(name) or "")
                found.append((name, inner))
    return found


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _actions(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:
            continue
        words = action.option_strings or [_placeholder(action)]
        takes = action.nargs != 0 and bool(action.option_strings)
        shown = ", ".join(f"{word} {_placeholder(action)}" if takes else word for word in words)
        yield from tagged(shown, help_text(action, parser.prog))


def help_text(action: argparse.Action, program: str = "") -> str:
    """What an option means, with its default where the text has a place for it."""
    text = action.help or ""
    return text % {**vars(action), "prog": program} if "%(" in text else text


def _placeholder(action: argparse.Action) -> str:
    if action.choices is not None and action.metavar is None:
        return "|".join(map(str, action.choices))
    metavar: Any = action.metavar or action.dest.upper()
    return str(metavar)


def daemon_body(name: str, options: usage.Options) -> Iterator[str]:
    """All sections behind the name of a daemon."""
    yield from section("SYNOPSIS", [f"{bold(name)} {escaped('[OPTION...]')}"])
    yield from section(
        "DESCRIPTION",
        paragraphs(
            "Goes into the background and returns when it is ready, or says why it cannot be. Where systemd rules, its unit "
            f"starts it; options for that stand in /etc/default/ganeti.\n\nThe log is in the journal (journalctl -u {name}), "
            "or in /var/log/ganeti."
        ),
    )
    yield from section("OPTIONS", (line for flags, text in _told_options(options) for line in tagged(flags, text)))
    yield from section("SIGNALS", tagged("SIGTERM", "The daemon ends; instances and jobs go on."))


def _told_options(options: usage.Options) -> Iterator[tuple[str, str]]:
    for flags, value, text in daemon_options(options):
        yield ", ".join(flags) + (f"={value}" if value else ""), text


def daemon_options(options: usage.Options) -> Iterator[tuple[list[str], str, str]]:
    """The spellings of each option, what its value is called (empty for a switch), and what it means."""
    parameters: dict[str, Sequence[Any]] = {each[0]: each for each in _gathered(options, "optParameters")}
    flags: dict[str, Sequence[Any]] = {each[0]: each for each in _gathered(options, "optFlags")}
    for name in sorted({*parameters, *flags}):
        given = parameters.get(name) or flags[name]
        text = given[3] if name in parameters else given[2]
        default = f" (default: {given[2]})" if name in parameters and given[2] is not None else ""
        spelled = [*([f"-{given[1]}"] if given[1] else []), f"--{name}"]
        yield spelled, name.upper() if name in parameters else "", f"{text}{default}"


def _gathered(options: usage.Options, name: str) -> Iterator[Sequence[Any]]:
    """As Twisted does: those of all classes."""
    for kind in reversed(type(options).__mro__):
        yield from vars(kind).get(name, ())
