"""Other programs, started and waited for."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred
from zope.interface import Interface

#: The environment a program gets when none is given: no locale surprises, nothing inherited.
CLEAN_ENV: Mapping[str, str] = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin", "LC_ALL": "C"}

DEFAULT_TIMEOUT = 60.0
DEFAULT_OUTPUT_LIMIT = 1 << 20

#: Bytes at the end of what a program said in which its last line is looked for.
LAST_WORDS = 4096
#: The exit statuses shells give a program that cannot be started, and one that cannot be found.
NOT_EXECUTABLE = 126
NOT_FOUND = 127


@frozen(kw_only=True)
class ProcessResult:
    """How a program ended and what it said."""

    status: int | None = 0  # exit status; None when a signal ended it
    stdout: bytes = b""
    stderr: bytes = b""
    signal: int | None = None  # what ended it, when it did not exit by itself
    timed_out: bool = False  # it was ended because its time was over
    truncated: bool = False  # it said more than the output limit; the rest was dropped

    @property
    def succeeded(self) -> bool:
        """It exited by itself with status 0, in time."""
        return self.status == 0 and not self.timed_out

    def describe(self, hide: Callable[[str], str] | None = None) -> str:
        """One line for an error: how it ended and the last line it said.

        @param hide: takes what nobody must see out of all that was said, before any of it is cut off.
        """
        if self.timed_out:
            ending = "timed out"
        elif self.signal is not None:
            ending = f"ended by signal {self.signal}"
        else:
            ending = f"exited with status {self.status}"
        said = self.stderr.strip() or self.stdout.strip()
        if hide is not None:
            said = hide(said.decode("utf-8", "replace")).encode().strip()
        lines = said[-LAST_WORDS:].decode("utf-8", "replace").splitlines()
        return f"{ending}: {lines[-1].strip()[:500]}" if lines else ending


class IProcessRunner(Interface):
    """Starts programs. No shell is involved: `argv` goes to the program as it is."""

    def run(
        argv: Sequence[str],
        *,
        env: Mapping[str, str] = CLEAN_ENV,
        cwd: Path | None = None,
        stdin: bytes = b"",
        timeout: float = DEFAULT_TIMEOUT,
        output_limit: int = DEFAULT_OUTPUT_LIMIT,
        child_fds: Mapping[int, int] | None = None,
    ) -> Deferred[ProcessResult]:
        """Fires when the program has ended and its pipes are closed; a non-zero status is a result, not an error.

        What it has left in the background may hold the pipes: it is left alone, and soon nobody reads them any more.
        When `timeout` seconds are over, its whole process group gets TERM, a little later KILL, and the result says
        so. `output_limit` holds for stdout and stderr each. `child_fds` maps descriptors of the child to open
        descriptors of ours; standard ones named there are not captured, and files that are only added to are cut when
        they become too long (`log_limit`). `env` is the whole environment.
        A program that cannot be found gives status 127, one whose arguments or variables no program can have 126.
        Cancelling ends the process group and forgets it.
        """

    def run_detached(
        argv: Sequence[str], *, log: Path, env: Mapping[str, str] = CLEAN_ENV, cwd: Path | None = None
    ) -> int:
        """Start a program in a session of its own that lives on when we end; its output is appended to `log`.

        Returns its process id. @raise OSError: ENOENT, no such program, or the log cannot be opened; ELOOP, it is a link.
        """
