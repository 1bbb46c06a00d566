"""ganeti-complete: what a shell asks while a command line is typed. Whatever is wrong, it says nothing and offers nothing."""

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence

from ganeti_tx.cli.completion.complete import complete
from ganeti_tx.cli.completion.names import ClusterNames, INames
from ganeti_tx.cli.completion.offer import Offer
from ganeti_tx.cli.main import program_named
from ganeti_tx.installation.completion.line import (
    MAX_LINE,
    bash_lines,
    joined,
    lines_with_meanings,
    unquoted,
    words_of,
)
from ganeti_tx.runtime.tool_parser import ToolParser

BASH = "bash"
_DESCRIPTION = """\
Says to a shell what may stand for the last word of a command line, whose words it reads from standard input, each ended by a
zero byte. The first line is "files" where files may stand there, too, else "words".
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser("ganeti-complete", description=_DESCRIPTION)
    made.add_argument("shell", choices=(BASH, "zsh", "fish"), help="the shell that asks")
    return made


def main() -> int:
    """The program; its exit status."""
    shell = parser().parse_args().shell
    try:
        lines = answer(shell, sys.stdin.buffer.read(MAX_LINE), ClusterNames(os.environ))
    except Exception:  # somebody is typing: nothing may come between
        return 0
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def answer(shell: str, data: bytes, names: INames) -> list[str]:
    """The lines for a shell."""
    pieces = words_of(data)
    if len(pieces) < 2:
        return ["words"]
    typed = joined(pieces) if shell == BASH else pieces
    plain = [unquoted(word) for word in typed] if shell == BASH else typed
    offer = offered(os.path.basename(plain[0]), plain[1:], names)
    lines = bash_lines(offer, typed[-1], pieces[-1]) if shell == BASH else lines_with_meanings(offer)
    return ["files" if offer.files else "words", *lines]


def offered(program: str, words: Sequence[str], names: INames) -> Offer:
    """What may stand for the last word."""
    if re.fullmatch("gnt-[a-z]+", program):
        return complete(program_named(program), words, names)
    others = importlib.import_module("ganeti_tx.installation.completion.other_programs")
    offer = others.offered(program, words, names)
    assert isinstance(offer, Offer)
    return offer


if __name__ == "__main__":
    sys.exit(main())
