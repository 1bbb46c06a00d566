"""The command lines of programs that are no gnt-* command: those of argparse, with what may have been meant."""

import argparse
import re
from collections.abc import Iterator
from typing import NoReturn

from ganeti_tx.model.nearest import did_you_mean

_NO_CHOICE = re.compile(r".*invalid choice: '([^']*)' \(choose from (.*)\)", re.DOTALL)
_NO_OPTION = re.compile(r"unrecognized arguments: (-\S+).*", re.DOTALL)


class ToolParser(argparse.ArgumentParser):
    """Says behind an error which option or word is nearest to what was typed."""

    def error(self, message: str) -> NoReturn:
        """As argparse has it: the usage, the error, status 2."""
        question = self._meant(message)
        super().error(f"{message} ({question})" if question else message)

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
