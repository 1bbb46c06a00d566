"""The command lines of programs that are no gnt-* command: those of argparse, with what may have been meant."""

import argparse
import re
import sys
from collections.abc import Iterator
from typing import NoReturn

from ganeti_tx.errors import ExitCode
from ganeti_tx.model.nearest import did_you_mean

_NO_CHOICE = re.compile(r".*invalid choice: '([^']*)' \(choose from (.*)\)", re.DOTALL)
_NO_OPTION = re.compile(r"unrecognized arguments: (-\S+).*", re.DOTALL)


class ToolParser(argparse.ArgumentParser):
    """Says behind an error which option or word is nearest to what was typed."""

    #: How a wrong command line ends; some programs of Ganeti's end otherwise.
    wrong_status: int = ExitCode.USAGE

    def error(self, message: str) -> NoReturn:
        """As argparse has it: the usage, and the error."""
        question = self._meant(message)
        self.print_usage(sys.stderr)
        self.exit(self.wrong_status, f"{self.prog}: error: {message}{f' ({question})' if question else ''}\n")

    def _meant(self, message: str) -> str:
        if choice := _NO_CHOICE.fullmatch(message):
            return did_you_mean(choice[1], [word.strip("'") for word in choice[2].split(", ")])
        if option := _NO_OPTION.fullmatch(message):
            return did_you_mean(option[1].partition("=")[0], list(_flags(self)))
        return ""


def _flags(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Those of the program and of its subcommands: what none of them knows is told by the program."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _flags(inner)
