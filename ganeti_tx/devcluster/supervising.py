"""The supervisor of a devcluster as a process: one at a time, told by a locked pid file, with a log of its own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.layout import STATE_FILE, DevNode, Layout, load
from ganeti_tx.devcluster.supervisor import INTERVAL, Daemon, Supervisor
from ganeti_tx.errors import PidFileLockError
from ganeti_tx.own_modules import module_argv
from ganeti_tx.runtime.daemon_names import MASTER, MASTER_PARTS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import claim_pid_file, holder, was_abandoned

PID_FILE = "supervisor.pid"
LOG_FILE = "supervisor.log"
#: Seconds that it may take to come up, and to end.
LIMIT = 15.0


def start_supervisor(layout: Layout) -> None:
    """Have one run. @raise DevclusterError: it does not come up."""
    path = layout.root / PID_FILE
    if is_held(path):
        return
    with (layout.root / LOG_FILE).open("ab") as log:
        command = module_argv("ganeti_tx.devcluster.supervising", str(layout.root))
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/"
        )
    deadline = time.monotonic() + LIMIT
    while not is_held(path):
        if process.poll() is not None or time.monotonic() > deadline:
            raise DevclusterError(f"the supervisor did not start; see {layout.root / LOG_FILE}")
        time.sleep(0.02)


def stop_supervisor(root: Path) -> bool:
    """End it, if it runs; whether it did."""
    path = root / PID_FILE
    if not is_held(path):
        return False
    deadline = time.monotonic() + LIMIT
    while is_held(path):
        process = holder(path)
        if process is not None:
            signal_to(process, signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL)
        time.sleep(0.02)
    return True


def is_held(path: Path) -> bool:
    """Whether a process holds a pid file."""
    return path.exists() and not was_abandoned(path)


def signal_to(process: int, number: signal.Signals) -> None:
    """Send a signal; one that is gone needs none."""
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return


def pid_files(layout: Layout) -> Mapping[Daemon, bool]:
    """Every daemon that has a pid file, and whether a process holds it; the parts of ganeti-master do not count beside it."""
    found: dict[Daemon, bool] = {}
    for node in layout.nodes:
        run_dir = Paths(node.root).run_dir
        held = {path.stem: is_held(path) for path in run_dir.glob("ganeti-*.pid") if path.exists()}
        if MASTER in held:
            apart = not held[MASTER] and any(held.get(part) for part in MASTER_PARTS)
            for name in (MASTER,) if apart else MASTER_PARTS:
                held.pop(name, None)
        found.update({(node, name): living for name, living in held.items()})
    return found


def start(node: DevNode, daemon: str) -> "subprocess.Popen[bytes]":
    """Start a daemon in the background; what it says is in our log."""
    beside = Path(sys.executable).parent / daemon
    program = str(beside) if beside.exists() else shutil.which(daemon)
    if program is None:
        raise DevclusterError(f"there is no program {daemon}")
    return subprocess.Popen([program], env=node.environment(os.environ), stdin=subprocess.DEVNULL, cwd="/")


def say(text: str) -> None:
    """A line for the log, with the time."""
    print(f"{datetime.now().isoformat(' ', 'milliseconds')} {text}", flush=True)


def main() -> int:
    """Watch the devcluster in a directory until SIGTERM comes or the directory is gone."""
    root = Path(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        layout = load(root)
        held = claim_pid_file(root / PID_FILE)
    except (DevclusterError, PidFileLockError, OSError) as error:
        say(f"fatal: {error}")
        return 1
    supervisor = Supervisor(lambda: pid_files(layout), start, say)
    say(f"watching {', '.join(node.name for node in layout.nodes)}")
    try:
        while (root / STATE_FILE).exists():
            supervisor.look(time.monotonic())
            time.sleep(INTERVAL)
    finally:
        say("ended")
        held.release()
    return 0


if __name__ == "__main__":
    sys.exit(main())
