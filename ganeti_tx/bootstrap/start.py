"""Starting and stopping this node's daemons."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.runtime.daemon_control import (
    ASK_LIMIT,
    STOP_LIMIT,
    DaemonControl,
    last_line,
    not_started,
    reason,
)
from ganeti_tx.runtime.daemon_names import ALL
from ganeti_tx.runtime.daemon_programs import own_program
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder

#: Seconds until a daemon that was asked to end must be gone, and between looks.
END_LIMIT = 15.0
INTERVAL = 0.02


def start(paths: Paths, daemon: str) -> None:
    """Start a daemon and wait until it is up. @raise BootstrapError: it does not come up; the text has its reason."""
    control = DaemonControl.at(paths.root)
    if not control.by_systemd and is_running(paths, daemon):
        return
    done = run(control.start_argv(daemon, own_program), control.start_limit)
    if done.returncode == 0 and (is_running(paths, daemon) or not control.by_systemd):
        return
    asking = control.reason_argv(daemon)
    why = [reason(run(asking, ASK_LIMIT).stdout) if asking is not None else "", last_line(done.stderr, done.stdout)]
    raise BootstrapError(not_started(daemon, why, control.log(daemon, paths.log_file(daemon))))


def run(argv: Sequence[str], limit: float) -> "subprocess.CompletedProcess[str]":
    """@raise BootstrapError: it cannot be run, or does not end within so many seconds."""
    try:
        return subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        raise BootstrapError(f"{' '.join(argv)} did not end within {limit:.0f} s") from None
    except OSError as error:
        raise BootstrapError(f"cannot run {argv[0]}: {error.strerror}") from None


def stop(paths: Paths, daemon: str) -> None:
    """End a daemon that runs. @raise BootstrapError: it does not end."""
    argv = DaemonControl.at(paths.root).stop_argv([daemon])
    if argv is not None:
        run(argv, STOP_LIMIT)
    process = running(paths, daemon)
    if process is None:
        return
    try:
        os.kill(process, signal.SIGTERM)
    except ProcessLookupError:
        return
    except OSError as error:
        raise BootstrapError(f"cannot end {daemon} (process {process}): {error.strerror}") from None
    deadline = time.monotonic() + END_LIMIT
    while is_running(paths, daemon):
        if time.monotonic() > deadline:
            raise BootstrapError(f"{daemon} (process {process}) does not end within {END_LIMIT:.0f} s")
        time.sleep(INTERVAL)


def stop_all(paths: Paths, stop_one: Callable[[Paths, str], None] = stop) -> list[str]:
    """End every daemon of this node, the last that was started first; gives what is to be said of those that do not end."""
    failed = []
    for daemon in reversed(ALL):
        try:
            stop_one(paths, daemon)
        except BootstrapError as error:
            failed.append(str(error))
    return failed


def running(paths: Paths, daemon: str) -> int | None:
    """The process id of a daemon that runs."""
    return holder(paths.pid_file(daemon))


def is_running(paths: Paths, daemon: str) -> bool:
    """Whether a process holds the pid file."""
    return running(paths, daemon) is not None


def start_outward(paths: Paths, daemons: Sequence[str]) -> None:
    """Start daemons that do not wait for each other. @raise BootstrapError: one does not come up."""
    with ThreadPoolExecutor() as pool:
        for _ in pool.map(lambda daemon: start(paths, daemon), daemons):
            continue


def socket_answers(path: Path) -> Callable[[], bool]:
    """Whether somebody accepts connections on a unix socket."""

    def answers() -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(2)
            try:
                probe.connect(str(path))
            except OSError:
                return False
            return True

    return answers
