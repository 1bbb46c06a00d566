"""What the new version's own program does on each node: it tells what runs there, and takes its daemons over."""

import subprocess
from collections.abc import Sequence

import msgspec

from ganeti_tx import __version__
from ganeti_tx.bootstrap.start import is_running, run, start, stop
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.base import Wire
from ganeti_tx.runtime.daemon_control import STOP_LIMIT, SYSTEMD_START_LIMIT, DaemonControl
from ganeti_tx.runtime.daemon_names import ALL, MASTER, MASTER_PARTS, NODE
from ganeti_tx.runtime.daemon_programs import own_program
from ganeti_tx.runtime.paths import Paths

SETUP = "ganeti-setup"
#: Seconds that setting a machine up may take, which has limits of its own.
SETUP_LIMIT = 300.0


class Look(Wire, frozen=True, kw_only=True):
    """Which version was asked, and the daemons that run on this node, of whatever version."""

    version: str
    daemons: tuple[str, ...]


def look(paths: Paths) -> Look:
    """This node as it is."""
    control = DaemonControl.at(paths.root)
    running = [each for each in ALL if runs(paths, control, each)]
    apart = [
        each for each in running if each not in MASTER_PARTS or MASTER not in running
    ]  # it has their pid files, too
    return Look(version=__version__, daemons=tuple(apart))


def runs(paths: Paths, control: DaemonControl, daemon: str) -> bool:
    """Whether a daemon does."""
    if control.by_systemd:
        return run(["systemctl", "is-active", "--quiet", daemon], STOP_LIMIT).returncode == 0
    return is_running(paths, daemon)


def halt(paths: Paths, daemons: Sequence[str]) -> None:
    """End daemons, the last that was started first. @raise GanetiError: one does not end."""
    for daemon in reversed([each for each in ALL if each in daemons]):
        stop(paths, daemon)


def take_over(paths: Paths, daemons: Sequence[str]) -> None:
    """Have daemons run that are of this installation, whichever runs now. @raise GanetiError: one does not come up."""
    control = DaemonControl.at(paths.root)
    if control.by_systemd:
        set_up()
    for daemon in [each for each in ALL if each in daemons]:
        if control.by_systemd:
            restarted = run(["systemctl", "restart", daemon], SYSTEMD_START_LIMIT)
            if restarted.returncode != 0:
                start(paths, daemon)  # which tells why it does not come up
        else:
            stop(paths, daemon)
            start(paths, daemon)


def set_up() -> None:
    """Units, links and manual pages of this installation; what is started at boot stays so. @raise GanetiError: it fails."""
    enabled = run(["systemctl", "is-enabled", "--quiet", NODE], STOP_LIMIT).returncode == 0
    argv = [own_program(SETUP), *([] if enabled else ["--no-enable"])]
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SETUP_LIMIT,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        raise GanetiError(f"{' '.join(argv)}: {error}") from None
    if done.returncode != 0:
        raise GanetiError((done.stderr or done.stdout).strip() or f"{SETUP} ended with {done.returncode}")


def encoded(seen: Look) -> str:
    """A line of JSON."""
    return msgspec.json.encode(seen).decode()
