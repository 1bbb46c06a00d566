"""Programs that are really run, and waited for in place."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from twisted.internet.defer import Deferred, succeed
from zope.interface import implementer

from ganeti_tx.runtime.process import CLEAN_ENV, DEFAULT_OUTPUT_LIMIT, DEFAULT_TIMEOUT, IProcessRunner, ProcessResult


@implementer(IProcessRunner)
class BlockingRunner:
    """For tests without a reactor; short programs only."""

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
        fds = child_fds or {}
        done = subprocess.run(
            list(argv),
            env=dict(env),
            cwd=cwd,
            input=stdin,
            timeout=timeout,
            check=False,
            stdout=fds.get(1, subprocess.PIPE),
            stderr=fds.get(2, subprocess.PIPE),
        )
        return succeed(ProcessResult(status=done.returncode, stdout=done.stdout or b"", stderr=done.stderr or b""))

    def run_detached(
        self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] = CLEAN_ENV, cwd: Path | None = None
    ) -> int:
        """See `IProcessRunner`."""
        raise NotImplementedError("nothing that is tested so lives on")
