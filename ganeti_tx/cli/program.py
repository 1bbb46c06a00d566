"""A gnt-* program as a table of its subcommands, and one run of it: words in, exit status out."""

import importlib
import io
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TextIO

from ganeti_tx import __version__
from ganeti_tx.cli.command_log import CommandLog, ICommandLog, NoLog, words_to_keep
from ganeti_tx.cli.failures import Declined, describe, suggestion
from ganeti_tx.cli.options import Command
from ganeti_tx.cli.parsing import HelpShown, UsageError, parse
from ganeti_tx.cli.presented import presented, tell_submitted
from ganeti_tx.cli.session import Session, connect_to_master, read_name
from ganeti_tx.cli.streams import lead_nowhere
from ganeti_tx.errors import ExitCode, GanetiError, JobSubmittedException
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.daemon import Daemon
from ganeti_tx.model.nearest import did_you_mean


class Entry(NamedTuple):
    """Where a subcommand is written (its module is read only when it runs) and what it does."""

    module: str
    name: str
    help: str


class Program(NamedTuple):
    """One gnt-* program."""

    name: str
    about: str
    commands: Mapping[str, Entry]
    aliases: Mapping[str, str] = {}


class CommandContext(NamedTuple):
    """What a run finds around it; tests bring their own."""

    environ: Mapping[str, str]
    out: TextIO
    err: TextIO
    stdin: TextIO
    connect: Callable[[], Client]
    run: Callable[[Sequence[str], bytes | None], int]
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    read: Callable[[str], str] = read_name
    capture: Callable[[Sequence[str]], tuple[int, str]] = lambda argv: _capture_program(argv)
    connect_to: Callable[[str, Daemon], Client] = lambda path, daemon: Client(path, daemon=daemon)
    listens: Callable[[str], bool] | None = None
    log: Callable[[str, str], ICommandLog] = lambda program, command: NoLog()


def real_context() -> CommandContext:
    """This process's own."""
    environ = os.environ
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name typed in another encoding is no reason to fail
    return CommandContext(
        environ, sys.stdout, sys.stderr, sys.stdin, lambda: connect_to_master(environ), _run_program,
        log=lambda program, command: CommandLog(environ, program, command),
    )  # fmt: skip


def _run_program(argv: Sequence[str], document: bytes | None) -> int:
    """What it takes is read when a command first runs a program, since most run none."""
    return int(importlib.import_module("ganeti_tx.cli.programs").run_program(argv, document))


def _capture_program(argv: Sequence[str]) -> tuple[int, str]:
    """As `_run_program`."""
    status, output = importlib.import_module("ganeti_tx.cli.programs").capture_program(argv)
    return int(status), str(output)


def load(entry: Entry) -> Command:
    """Read a subcommand's module."""
    command = getattr(importlib.import_module(f"ganeti_tx.cli.{entry.module}"), entry.name)
    assert isinstance(command, Command)
    return command


def run(program: Program, words: Sequence[str], context: CommandContext) -> int:
    """Run what the words say; the exit status. Errors come out as lines on standard error."""
    if list(words) in (["--version"], ["-V"]):
        context.out.write(f"{program.name} (ganeti ganeti_tx) {__version__}\n")
        return ExitCode.SUCCESS
    if not words or words[0] in ("-h", "--help"):
        context.out.write(usage(program))
        return ExitCode.SUCCESS if words else ExitCode.FAILURE
    name = program.aliases.get(words[0], words[0])
    if name not in program.commands:
        context.err.write(_not_available(program, words[0]))
        return ExitCode.FAILURE
    return _run_command(program, name, words[1:], context)


def _run_command(program: Program, name: str, words: Sequence[str], context: CommandContext) -> int:
    entry = program.commands[name]
    command = load(entry)
    session = Session(
        program=program.name, command=name, environ=context.environ, out=context.out, err=context.err,
        stdin=context.stdin, connect=context.connect, run=context.run, now=context.now, sleep=context.sleep,
        read=context.read, capture=context.capture, connect_to=context.connect_to, listens=context.listens,
    )  # fmt: skip
    log = context.log(program.name, name)
    log.write("INFO", f"run with arguments '{words_to_keep(command, words)}'")
    try:
        options, arguments = parse(program.name, name, command, words, context.environ)
        return presented(command, session, options, arguments)
    except HelpShown as shown:
        context.out.write(f"{shown}\n{entry.help[0].upper()}{entry.help[1:]}.\n{command.manual}")
        return ExitCode.SUCCESS
    except JobSubmittedException as submitted:
        tell_submitted(session, submitted.args[0])
        return ExitCode.SUCCESS
    except UsageError as error:
        session.fail(f"{program.name} {name}: {error}")
        return error.status
    except BrokenPipeError:
        lead_nowhere()  # whoever read the output has left
        return ExitCode.FAILURE
    except (GanetiError, Declined, OSError) as error:
        status, text = describe(error)
        if text:
            session.fail(text)
        if isinstance(error, GanetiError) and (more := suggestion(session, text)):
            session.warn(more)
        log.write("ERROR", f"{text} (status {status})")
        return status
    except KeyboardInterrupt:
        session.warn("Aborted; jobs that were submitted keep running, 'gnt-job list' shows them")
        return ExitCode.FAILURE


def usage(program: Program) -> str:
    """The program's subcommands, one a line."""
    spelled = {
        name: [alias for alias, target in program.aliases.items() if target == name] for name in program.commands
    }
    width = max((len(name) for name in program.commands), default=0)
    lines = [
        f" {name:<{width}} - {program.commands[name].help}" + (f" (also: {', '.join(also)})" if also else "")
        for name, also in sorted(spelled.items())
    ]
    return "\n".join(
        [
            f"Usage: {program.name} {{command}} [options...] [argument...]",
            f"{program.name} <command> --help shows the options of a command",
            "",
            f"{program.about}. Commands:" if lines else f"{program.about}. No command is available in this version.",
            *lines,
            "",
        ]
    )


def _not_available(program: Program, word: str) -> str:
    available = ", ".join(sorted(program.commands)) or "none"
    question = did_you_mean(word, (*program.commands, *program.aliases))
    asked = f"{question[0].upper()}{question[1:]}\n" if question else ""
    return f"{program.name}: command {word!r} is not available in this version; available: {available}\n{asked}"
