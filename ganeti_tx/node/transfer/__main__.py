"""One end of a transfer: python -m ganeti_tx.node.transfer DIRECTORY."""

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from ganeti_tx.errors import ExitCode, OpExecError
from ganeti_tx.node.transfer.connection import TransferError, accepted, connected, listening
from ganeti_tx.node.transfer.pipeline import Programs, receive, send
from ganeti_tx.node.transfer.progress import Progress
from ganeti_tx.node.transfer.script_run import ScriptRun, end_group
from ganeti_tx.node.transfer.spec import LOCK, RELEASE, Spec, read_spec
from ganeti_tx.runtime.pidfile import claim_pid_file

#: Seconds between two looks whether the farewell may be said.
LOOK = 0.1


def main(argv: list[str]) -> int:
    """Do what the directory's file says; everything is told in its status file."""
    directory = Path(argv[1])
    os.umask(0o077)
    held = claim_pid_file(directory / LOCK)
    try:
        spec = read_spec(directory)
        return run(spec, Progress(directory, spec.size))
    finally:
        held.release()


def run(spec: Spec, progress: Progress) -> int:
    """The transfer, and how it ended."""
    programs = Programs()
    signal.signal(signal.SIGTERM, stopped)
    try:
        if spec.script is not None:
            programs.script = ScriptRun(spec.script, progress.expect)
        transfer(spec, programs, progress)
        if programs.script is not None:
            programs.script.end()
    except (TransferError, OpExecError, OSError, Stopped) as error:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        said = failed(programs, str(error))
        progress.ended(-signal.SIGTERM if isinstance(error, Stopped) else ExitCode.FAILURE, said)
        if programs.script is not None:
            end_group()
        return ExitCode.FAILURE
    progress.ended(ExitCode.SUCCESS)
    return ExitCode.SUCCESS


def failed(programs: Programs, reason: str) -> str:
    """End what still runs; what is told."""
    script_failed = programs.script_failed
    programs.kill()
    if programs.script is None:
        return reason
    try:
        ends = programs.script.end()
    except OpExecError as error:
        return f"{reason}; {error}"
    return f"{reason}; {ends}" if script_failed else reason


def transfer(spec: Spec, programs: Programs, progress: Progress) -> None:
    """Find the other end, and send or receive."""
    if spec.sends:
        progress.write()
        peer = connected(spec)
    else:
        with listening(spec) as listener:
            progress.status.listen_port = listener.getsockname()[1]
            progress.write()
            peer = accepted(spec, listener)
    with peer:
        progress.status.connected = True
        progress.write()
        if spec.sends:
            progress.status.sha256 = send(spec, programs, peer, progress.count)
        else:
            wait = partial(until_released, progress, spec.patience)
            progress.status.sha256 = receive(spec, programs, peer, progress.count, wait)


def until_released(progress: Progress, patience: float) -> None:
    """All is there; the master says when that is taken for good. @raise TransferError: it does not."""
    progress.status.filled = True
    progress.write()
    end = time.monotonic() + patience
    while not (progress.directory / RELEASE).exists():
        if time.monotonic() > end:
            raise TransferError("nobody has taken what came")
        time.sleep(LOOK)


class Stopped(BaseException):
    """Somebody wants it to end."""


def stopped(number: int, frame: object) -> None:
    """@raise Stopped."""
    raise Stopped("it was stopped")


if __name__ == "__main__":
    sys.exit(main(sys.argv))
