"""fmtjson: JSON from standard input comes out indented, with its keys in order."""

import argparse
import json
import sys

from ganeti_tx import __version__
from ganeti_tx.errors import ExitCode
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "fmtjson"
MAX_INPUT = 256 * 1024 * 1024
#: Digits of an integer; longer ones take Python too long.
MAX_DIGITS = 4300


def formatted(text: bytes) -> str:
    """The same document. @raise ValueError: it is none. @raise OverflowError: it has too long an integer."""
    if len(text) > MAX_INPUT:
        raise ValueError(f"more than {MAX_INPUT} bytes")
    try:
        return json.dumps(json.loads(text, parse_int=integer), indent=2, sort_keys=True)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def integer(text: str) -> int:
    """@raise OverflowError: it is too long."""
    digits = len(text.lstrip("-"))
    if digits > MAX_DIGITS:
        raise OverflowError(f"an integer of {digits} digits; at most {MAX_DIGITS} are taken")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description="Print JSON from standard input indented, its keys in order.")
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    return made


def main() -> int:
    """The program; its exit status."""
    parser().parse_args()
    try:
        print(formatted(sys.stdin.buffer.read(MAX_INPUT + 1)), flush=True)
    except ValueError as error:
        print(f"{PROGRAM}: standard input holds no JSON: {error}", file=sys.stderr)
        return ExitCode.FAILURE
    except OverflowError as error:
        print(f"{PROGRAM}: standard input holds {error}", file=sys.stderr)
        return ExitCode.FAILURE
    except BrokenPipeError:  # whoever read the output has left
        sys.stderr.close()
        return ExitCode.FAILURE
    except KeyboardInterrupt:
        return ExitCode.FAILURE
    return ExitCode.SUCCESS
