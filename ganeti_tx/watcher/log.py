"""The watcher's log: a line for each thing done or found, and on standard error when that is wanted."""

import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

from attrs import define

from ganeti_tx.runtime.appended_file import AppendedFile
from ganeti_tx.runtime.paths import Paths

#: Longer texts, such as what a script has printed, are cut.
MAX_LINE = 4096


@define
class Log:
    """Lines as Ganeti's programs write them. `failures` counts what was not done, for the exit status."""

    program: str
    write: Callable[[bytes], None]
    now: Callable[[], float]
    #: Standard error, when everything is to be told there, too.
    beside: TextIO | None = None
    failures: int = 0

    def debug(self, text: str) -> None:
        """What only somebody who looks for a fault wants to know."""
        if self.beside is not None:
            self._line("DEBUG", text)

    def info(self, text: str) -> None:
        """What was done."""
        self._line("INFO", text)

    def warning(self, text: str) -> None:
        """What may be in order, and what the administrator should look at."""
        self._line("WARNING", text)

    def error(self, text: str) -> None:
        """What should have been done, and was not."""
        self.failures += 1
        self._line("ERROR", text)

    def _line(self, level: str, text: str) -> None:
        now = self.now()
        stamp = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))},{int(now * 1000) % 1000:03d}"
        words = " ".join(text.split())[:MAX_LINE]
        line = f"{stamp}: {self.program} pid={os.getpid()} {level} {words}\n"
        self.write(line.encode("utf-8", "backslashreplace"))
        if self.beside is not None:
            self.beside.write(line)
            self.beside.flush()


def log_of(program: str, paths: Paths, mode: int, *, debug: bool) -> Log:
    """The log in this node's file. @raise OSError: its directory cannot be made."""
    paths.log_dir.mkdir(parents=True, exist_ok=True, mode=0o750)
    file = AppendedFile(paths.watcher_log, mode)
    return Log(program, file.write, time.time, sys.stderr if debug else None)
