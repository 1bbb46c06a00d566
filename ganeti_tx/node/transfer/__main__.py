"""One end of a transfer: python -m ganeti_tx.node.transfer DIRECTORY."""

import signal
import sys
from pathlib import Path

from ganeti_tx.errors import ExitCode
from ganeti_tx.node.transfer.connection import TransferError, accepted, connected, listening
from ganeti_tx.node.transfer.pipeline import Programs, receive, send
from ganeti_tx.node.transfer.progress import Progress
from ganeti_tx.node.transfer.spec import LOCK, Spec, read_spec
from ganeti_tx.runtime.pidfile import claim_pid_file


def main(argv: list[str]) -> int:
    """Do what the directory's file says; everything is told in its status file."""
    directory = Path(argv[1])
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
        transfer(spec, programs, progress)
    except (TransferError, OSError, Stopped) as error:
        programs.kill()
        progress.ended(-signal.SIGTERM if isinstance(error, Stopped) else ExitCode.FAILURE, str(error))
        return ExitCode.FAILURE
    progress.ended(ExitCode.SUCCESS)
    return ExitCode.SUCCESS


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
        (send if spec.sends else receive)(spec, programs, peer, progress.count)


class Stopped(BaseException):
    """Somebody wants it to end."""


def stopped(number: int, frame: object) -> None:
    """@raise Stopped."""
    raise Stopped("it was stopped")


if __name__ == "__main__":
    sys.exit(main(sys.argv))
