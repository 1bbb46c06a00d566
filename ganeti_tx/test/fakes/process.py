"""Programs that are only scripted."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from zope.interface import implementer

from ganeti_tx.runtime.process import (
    CLEAN_ENV,
    DEFAULT_OUTPUT_LIMIT,
    DEFAULT_TIMEOUT,
    NOT_FOUND,
    IProcessRunner,
    ProcessResult,
)

SIGTERM = 15


@frozen
class Call:
    """One program that was to be started."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = CLEAN_ENV
    cwd: Path | None = None
    stdin: bytes = b""
    timeout: float | None = DEFAULT_TIMEOUT
    child_fds: Mapping[int, int] | None = None
    log: Path | None = None  # set for a detached program


Script = Callable[[Call], ProcessResult | Deferred[ProcessResult]]


@implementer(IProcessRunner)
class FakeProcessRunner:
    """Records every call in `calls` and answers by the longest scripted beginning of its argv.

    What is not scripted does not exist: status 127. A script whose Deferred does not fire runs until the clock says
    that its time is over.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.calls: list[Call] = []
        self._scripts: dict[tuple[str, ...], Script] = {}
        self._last_pid = 1000

    @property
    def commands(self) -> list[list[str]]:
        """The argv of every call, in order."""
        return [list(call.argv) for call in self.calls]

    @property
    def next_pid(self) -> int:
        """What the next detached program will be known by."""
        return self._last_pid + 1

    def script(self, beginning: Sequence[str], answer: Script | ProcessResult) -> None:
        """How programs whose argv begins so will end; a later script replaces one for the same beginning."""
        self._scripts[tuple(beginning)] = answer if callable(answer) else (lambda _call: answer)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] = CLEAN_ENV,
        cwd: Path | None = None,
        stdin: bytes = b"",
        timeout: float = DEFAULT_TIMEOUT,
        output_limit: int = DEFAULT_OUTPUT_LIMIT,
        child_fds: Mapping[int, int] | None = None,
    ) -> Deferred[ProcessResult]:
        """See `IProcessRunner`."""
        call = Call(tuple(argv), env, cwd, stdin, timeout, child_fds)
        self.calls.append(call)
        script = self._find(call.argv)
        ended: Deferred[ProcessResult] = Deferred()
        if script is None:
            ended.callback(ProcessResult(status=NOT_FOUND, stderr=f"{argv[0]}: command not found".encode()))
            return ended
        timer = self.clock.callLater(
            timeout, lambda: finish(ProcessResult(status=None, signal=SIGTERM, timed_out=True))
        )

        def finish(result: ProcessResult) -> None:
            if timer.active():
                timer.cancel()
            if not ended.called:
                ended.callback(_cut(result, output_limit))

        answer = script(call)
        if isinstance(answer, Deferred):
            answer.addCallback(finish)
        else:
            finish(answer)
        return ended

    def run_detached(
        self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] = CLEAN_ENV, cwd: Path | None = None
    ) -> int:
        """See `IProcessRunner`."""
        call = Call(tuple(argv), env, cwd, timeout=None, log=log)
        self.calls.append(call)
        script = self._find(call.argv)
        if script is None:
            raise FileNotFoundError(f"{argv[0]}: command not found")
        script(call)
        self._last_pid += 1
        return self._last_pid

    def _find(self, argv: tuple[str, ...]) -> Script | None:
        for length in range(len(argv), -1, -1):
            if argv[:length] in self._scripts:
                return self._scripts[argv[:length]]
        return None


def _cut(result: ProcessResult, limit: int) -> ProcessResult:
    """What is left of a result under an output limit."""
    truncated = len(result.stdout) > limit or len(result.stderr) > limit
    return ProcessResult(
        status=result.status,
        stdout=result.stdout[:limit],
        stderr=result.stderr[:limit],
        signal=result.signal,
        timed_out=result.timed_out,
        truncated=truncated or result.truncated,
    )
