"""A script of an OS definition as the command of one end."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from attrs import define, field

from ganeti_tx.errors import OpExecError
from ganeti_tx.node.transfer.spec import Script
from ganeti_tx.runtime.log_limit import LOOK, cut
from ganeti_tx.runtime.script_log import IScriptLog, log_end, open_log

#: By which an export script says how many bytes it will print (reference: os-interface.json).
SIZE_VARIABLE = "EXP_SIZE_FD"
#: Bytes of that which are read.
SIZE_TEXT = 64
MIB = 1 << 20


@define
class ScriptRun:
    """How it is started, and what it leaves.

    @ivar tell_size: is told the MiB that are expected.
    """

    script: Script
    tell_size: Callable[[int], None]
    log: IScriptLog = field(init=False)
    _ended: Event = field(init=False, factory=Event)
    _watching: Thread = field(init=False)

    @_watching.default
    def _make_watching(self) -> Thread:
        return Thread(target=self._watch, daemon=True)

    def __attrs_post_init__(self) -> None:
        self.log = open_log(Path(self.script.log_directory), self.script.log_name)
        self._watching.start()

    def options(self, *, writes: bool) -> dict[str, Any]:
        """For Popen; what the script prints that is nobody's input goes to its log."""
        options: dict[str, Any] = {
            "env": dict(self.script.environment),
            "cwd": self.script.directory,
            "stderr": self.log.descriptor,
        }
        if not writes:
            return {**options, "stdout": self.log.descriptor}
        reading, writing = os.pipe()
        Thread(target=self._read_size, args=(reading,), daemon=True).start()
        options["env"][SIZE_VARIABLE] = str(writing)
        return {**options, "pass_fds": (writing,)}

    def started(self, options: dict[str, Any]) -> None:
        """The script has its own ends of the pipes."""
        for descriptor in options.get("pass_fds", ()):
            os.close(descriptor)

    def _read_size(self, descriptor: int) -> None:
        with open(descriptor, "rb") as file, suppress(OSError, ValueError):
            self.tell_size(-(-int(file.readline(SIZE_TEXT)) // MIB))

    def _watch(self) -> None:
        last = False
        while not last:
            last = self._ended.wait(LOOK)
            with suppress(OSError):  # it is looked at again
                cut(self.log.descriptor)

    def end(self) -> str:
        """Take out of the log what is to be in none; what its last lines are. @raise OpExecError: that cannot be done."""
        self._ended.set()
        self._watching.join()
        try:
            self.log.hide([value for value in self.script.hidden if value])
            return log_end(self.log)
        except OSError as error:
            raise OpExecError(
                f"private parameters may stand in log {self.log.path}: {error.strerror}; remove it"
            ) from None


def end_group() -> None:
    """End whatever scripts have left behind of our group, and with it ourselves."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
