"""Starting and stopping this node's daemons."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.runtime.daemon_names import ALL
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder

#: Seconds until a daemon must answer, and until it must be gone.
START_LIMIT = 30.0
STOP_LIMIT = 15.0
INTERVAL = 0.02
MAX_LOG = 1024 * 1024
SYSTEMD = Path("/run/systemd/system")


def start(paths: Paths, daemon: str, answers: Callable[[], bool]) -> None:
    """Start a daemon, by systemd where it rules, and wait until it answers.

    @raise BootstrapError: it does not; the text names its log.
    """
    if answers():
        return
    by_systemd = SYSTEMD.is_dir() and paths.root == Path("/")
    argv = ["systemctl", "start", daemon] if by_systemd else own_command(daemon)
    log = paths.log_file(daemon)
    old = size(log)
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=START_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise BootstrapError(f"{argv[0]} did not end within {START_LIMIT:.0f} s; see {log}") from None
    except OSError as error:
        raise BootstrapError(f"cannot run {argv[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise BootstrapError(f"{daemon} did not start: {last_line(done.stderr) or last_line(done.stdout)}; see {log}")
    deadline = time.monotonic() + START_LIMIT
    while not answers():
        if time.monotonic() > deadline:
            raise BootstrapError(f"{daemon} was started but does not answer within {START_LIMIT:.0f} s; see {log}")
        if (last := fatal_line(log, old)) and not is_running(paths, daemon):
            raise BootstrapError(f"{daemon} ended at once: {last}; see {log}")
        time.sleep(INTERVAL)


def own_command(daemon: str) -> list[str]:
    """The daemon's program beside this Python, or on the search path."""
    beside = Path(sys.executable).parent / daemon
    program = str(beside) if beside.exists() else shutil.which(daemon)
    if program is None:
        raise BootstrapError(f"there is no program {daemon}; install ganeti_tx (pip install .)")
    return [program]


def stop(paths: Paths, daemon: str) -> None:
    """End a daemon that runs. @raise BootstrapError: it does not end."""
    if SYSTEMD.is_dir() and paths.root == Path("/"):
        stop_by_systemd(daemon)
        return
    process = running(paths, daemon)
    if process is None:
        return
    try:
        os.kill(process, signal.SIGTERM)
    except ProcessLookupError:
        return
    except OSError as error:
        raise BootstrapError(f"cannot end {daemon} (process {process}): {error.strerror}") from None
    deadline = time.monotonic() + STOP_LIMIT
    while is_running(paths, daemon):
        if time.monotonic() > deadline:
            raise BootstrapError(f"{daemon} (process {process}) does not end within {STOP_LIMIT:.0f} s")
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


def stop_by_systemd(daemon: str) -> None:
    """@raise BootstrapError: systemd does not answer."""
    limit = STOP_LIMIT * 2
    try:
        subprocess.run(["systemctl", "stop", daemon], stdin=subprocess.DEVNULL, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise BootstrapError(f"systemctl stop {daemon} did not end within {limit:.0f} s") from None
    except OSError as error:
        raise BootstrapError(f"cannot run systemctl: {error.strerror}") from None


def running(paths: Paths, daemon: str) -> int | None:
    """The process id of a daemon that runs."""
    return holder(paths.pid_file(daemon))


def is_running(paths: Paths, daemon: str) -> bool:
    """Whether a process holds the pid file."""
    return running(paths, daemon) is not None


def start_outward(paths: Paths, daemons: Sequence[str]) -> None:
    """Start daemons that do not wait for each other. @raise BootstrapError: one does not come up."""

    def start_one(daemon: str) -> None:
        old = size(paths.log_file(daemon))
        if not is_running(paths, daemon):
            start(paths, daemon, lambda: is_ready(paths, daemon, old))

    with ThreadPoolExecutor() as pool:
        for _ in pool.map(start_one, daemons):
            continue


def is_ready(paths: Paths, daemon: str, after: int) -> bool:
    """Whether a daemon runs and has come up: it holds its pid file before it has found out whether it can listen, and
    systemd waits for neither. @param after: how much was in its log before it was started.
    """
    return is_running(paths, daemon) and f"{daemon} is ready" in new_text(paths.log_file(daemon), after)


def tcp_answers(address: str, port: int) -> Callable[[], bool]:
    """Whether somebody accepts connections there."""

    def answers() -> bool:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.settimeout(2)
            return probe.connect_ex((address, port)) == 0

    return answers


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


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def size(log: Path) -> int:
    """How much is in a log already; nothing when there is none."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def fatal_line(log: Path, after: int = 0) -> str:
    """What a daemon said last when it gave up, from what is new in its log."""
    marked = [line for line in new_text(log, after).splitlines() if "fatal:" in line]
    return marked[-1].split("fatal:", 1)[1].strip() if marked else ""


def new_text(log: Path, after: int) -> str:
    """What a log got after so many bytes; all of a log begun anew."""
    try:
        with log.open("rb") as file:
            if after <= size(log):
                file.seek(after)
            return file.read(MAX_LOG).decode("utf-8", "replace")
    except OSError:
        return ""
