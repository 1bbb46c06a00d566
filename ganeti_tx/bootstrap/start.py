"""Starting and stopping this node's daemons."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.runtime.paths import Paths

#: Seconds until a daemon must answer, and until it must be gone.
START_LIMIT = 30.0
STOP_LIMIT = 15.0
INTERVAL = 0.02
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
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=START_LIMIT, check=False
    )
    if done.returncode != 0:
        raise BootstrapError(f"{daemon} did not start: {last_line(done.stderr) or last_line(done.stdout)}; see {log}")
    deadline = time.monotonic() + START_LIMIT
    while not answers():
        if time.monotonic() > deadline:
            raise BootstrapError(f"{daemon} was started but does not answer within {START_LIMIT:.0f} s; see {log}")
        if (error := fatal_line(log)) and not is_running(paths, daemon):
            raise BootstrapError(f"{daemon} ended at once: {error}; see {log}")
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
        subprocess.run(["systemctl", "stop", daemon], stdin=subprocess.DEVNULL, timeout=STOP_LIMIT * 2, check=False)
        return
    process = running(paths, daemon)
    if process is None:
        return
    os.kill(process, signal.SIGTERM)
    deadline = time.monotonic() + STOP_LIMIT
    while is_running(paths, daemon):
        if time.monotonic() > deadline:
            raise BootstrapError(f"{daemon} (process {process}) does not end within {STOP_LIMIT:.0f} s")
        time.sleep(INTERVAL)


def running(paths: Paths, daemon: str) -> int | None:
    """The process id of a daemon that holds its pid file."""
    try:
        process = int(paths.pid_file(daemon).read_text().split()[0])
        os.kill(process, 0)
    except (OSError, ValueError, IndexError):
        return None
    return process


def is_running(paths: Paths, daemon: str) -> bool:
    """Whether the process named in the pid file is there."""
    return running(paths, daemon) is not None


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


def fatal_line(log: Path) -> str:
    """What a daemon said last when it gave up, from the end of its log."""
    try:
        text = log.read_text(errors="replace")[-4000:]
    except OSError:
        return ""
    marked = [line for line in text.splitlines() if "fatal:" in line]
    return marked[-1].split("fatal:", 1)[1].strip() if marked else ""
