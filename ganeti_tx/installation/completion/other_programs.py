"""The options of the other programs, those with a parser of argparse and the daemons, in the form of the commands'."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import distribution

from twisted.application.service import IServiceMaker
from twisted.plugin import getPlugins
from twisted.python import usage

from ganeti_tx.cli.completion.complete import complete_command
from ganeti_tx.cli.completion.names import INames
from ganeti_tx.cli.completion.offer import Offer
from ganeti_tx.cli.options import Argument, Command, Option
from ganeti_tx.installation.manual.other_pages import daemon_options, help_text


def offered(program: str, words: Sequence[str], names: INames) -> Offer:
    """What may stand for the last word; nothing for a program that is none of this installation's."""
    scripts = distribution("ganeti_tx").entry_points.select(group="console_scripts")
    found = next((script for script in scripts if script.name == program), None)
    if found is None:
        return Offer()
    make: Callable[[], argparse.ArgumentParser] | None = getattr(import_module(found.module), "parser", None)
    used, command = 0, daemon_command(program)
    if make is not None:
        inner, used = parser_at(make(), words[:-1])
        command = parser_command(inner)
    return (
        Offer() if command is None else complete_command(program, "", command, words[used:], names, interspersed=True)
    )


def daemon_command(name: str) -> Command | None:
    """A daemon's; None if it is none."""
    for maker in getPlugins(IServiceMaker):
        if maker.tapname == name:
            return Command(_never, options=tuple(_of_daemon(maker.options())))
    return None


def _of_daemon(options: usage.Options) -> Iterator[Option]:
    for flags, value, text in daemon_options(options):
        yield Option(tuple(flags), flags[-1], text, "string" if value else None)


def parser_at(parser: argparse.ArgumentParser, words: Sequence[str]) -> tuple[argparse.ArgumentParser, int]:
    """The parser of the subcommand that the words lead to, and how many of them have led there."""
    for at, word in enumerate(words):
        inner = _inner(parser)
        if inner is not None and word in inner:
            deeper, used = parser_at(inner[word], words[at + 1 :])
            return deeper, at + 1 + used
    return parser, 0


def parser_command(parser: argparse.ArgumentParser) -> Command:
    """What a parser takes itself; the words of its subcommands are a choice."""
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    return Command(
        _never,
        tuple(_argument(action) for action in actions if not action.option_strings),
        tuple(_option(action) for action in actions if action.option_strings),
    )


def _option(action: argparse.Action) -> Option:
    takes = None if action.nargs == 0 else "string"
    return Option(tuple(action.option_strings), action.dest, help_text(action), takes, choices=_choices(action))


def _argument(action: argparse.Action) -> Argument:
    many = action.nargs in ("*", "+", argparse.REMAINDER)
    choices = _choices(action)
    return Argument("choice" if choices else "file", 0, None if many else 1, choices)


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices)) if action.choices is not None else ()


def _inner(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser] | None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            choices: Mapping[str, argparse.ArgumentParser] = action.choices
            return choices
    return None


def _never(*_words: object) -> int:
    raise AssertionError("the declaration is only for completion")
