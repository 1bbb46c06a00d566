"""The log of all commands, /var/log/ganeti/commands.log (Ganeti 3.0 configuration table, "LOG_COMMANDS")."""

import os
import stat
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from ganeti_tx.cli.options import Command
from ganeti_tx.cli.session import rooted

PATH = "/var/log/ganeti/commands.log"
MODE = 0o600
#: Stands for a value that nobody may read later.
HIDDEN = "<redacted>"
#: Characters of one line; more is no command that a person typed.
MAX_LINE = 8192
#: The type of options whose values are private or secret.
PRIVATE_TYPE = "keyprivateval"


class ICommandLog(Protocol):
    """Where lines about a command go."""

    def write(self, level: str, text: str) -> None:
        """One line; `level` is INFO or ERROR."""


class NoLog:
    """Keeps nothing."""

    def write(self, level: str, text: str) -> None:
        """See `ICommandLog`."""


class CommandLog:
    """Appends a line each for what was typed and for what came of it; where it may not write, it does not."""

    def __init__(self, environ: Mapping[str, str], program: str, command: str) -> None:
        self._path = rooted(environ, PATH)
        self._who = f"{program} {command} pid={os.getpid()}"

    def write(self, level: str, text: str) -> None:
        """See `ICommandLog`; the line starts with the time of this place."""
        at = time.strftime("%Y-%m-%d %H:%M:%S")
        line = " ".join(f"{at}: {self._who} {level} {text}".split("\n"))[:MAX_LINE]
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            file = _opened(self._path, flags)
        except OSError:  # not for everybody who may run commands, and not before there is a cluster
            return
        try:
            if stat.S_ISREG(os.fstat(file).st_mode):  # the directory is the daemons', who might read along at a pipe
                os.write(file, f"{line}\n".encode("utf-8", "backslashreplace"))
        except OSError:  # a full disk is no reason to refuse what may make room
            return
        finally:
            os.close(file)


def _opened(path: str | os.PathLike[str], flags: int) -> int:
    """With O_CREAT only if it is to be made: in the daemons' directory a kernel may refuse that for another user's file."""
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        return os.open(path, flags | os.O_CREAT, MODE)


def words_to_keep(command: Command, words: Sequence[str]) -> str:
    """What was typed, without the values of private and secret parameters."""
    private = [flag for option in command.options if option.takes == PRIVATE_TYPE for flag in option.flags]
    result, hide = [], False
    for word in words:
        flag, equals, _value = word.partition("=")
        is_private = len(flag) > len("--") and any(each.startswith(flag) for each in private)  # abbreviated, perhaps
        result.append(HIDDEN if hide else f"{flag}={HIDDEN}" if is_private and equals else word)
        hide = is_private and not equals and not hide
    return " ".join(result)
