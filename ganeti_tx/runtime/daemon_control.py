"""How the daemons of a node are started, stopped and asked why they are not up, and where they log.

Where systemd rules the units do it, and the journal is the log; elsewhere each daemon's own program starts it in the
background. Either way a start ends when the daemon has told that it is ready, or why it is not (runtime.readiness).
This loads nothing that the commands, which need its words, do without.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

#: Is there while systemd rules (sd_booted(3)).
SYSTEMD = Path("/run/systemd/system")
#: Seconds within which a daemon that its own program has started must have told that it is ready, the vote for a master included.
READY_LIMIT = 170.0
#: Seconds that such a start may take: the program itself is to tell that the daemon was not ready.
START_LIMIT = READY_LIMIT + 10.0
#: The same for a start by systemd, which gives up earlier: when a program of the unit takes longer than its TimeoutStartSec.
SYSTEMD_START_LIMIT = 900.0
#: Seconds that a stop may take; that systemd may take to tell a state.
STOP_LIMIT = 30.0
ASK_LIMIT = 10.0
#: What systemd is asked about a unit that is not up: what its daemon told last, and whether it was tried at all.
ASKED = "StatusText,ConditionResult"
#: What it is asked about one that may have to be started, with the states of those that are.
UNIT_STATES = "UnitFileState,ActiveState"
ENABLED = ("enabled", "enabled-runtime")
DOWN = ("inactive", "failed")
FATAL = "fatal: "
#: What systemctl says where the units were never put in place.
NO_UNIT = "Unit {}.service not found."


class DaemonControl(NamedTuple):
    """The daemons of one node."""

    by_systemd: bool

    @classmethod
    def at(cls, root: Path, exists: Callable[[Path], bool] = Path.exists) -> "DaemonControl":
        """Of the node below a root: systemd rules the one that is the whole machine."""
        return cls(root == Path("/") and exists(SYSTEMD))

    @classmethod
    def here(cls, environ: Mapping[str, str] = os.environ) -> "DaemonControl":
        """Of the node that this process works for."""
        return cls.at(Path(environ.get("GANETI_ROOTDIR") or "/"))

    # What is run

    def start_argv(self, daemon: str, program: Callable[[str], str]) -> list[str]:
        """Starts one and ends when it is up. @param program: finds its own program."""
        return ["systemctl", "start", daemon] if self.by_systemd else [program(daemon)]

    @property
    def start_limit(self) -> float:
        """Seconds that `start_argv` may take; beyond them nobody knows whether the daemon comes up."""
        return SYSTEMD_START_LIMIT if self.by_systemd else START_LIMIT

    def stop_argv(self, daemons: Iterable[str]) -> list[str] | None:
        """Stops some and ends when they have ended; None where signals must do."""
        return ["systemctl", "stop", *daemons] if self.by_systemd else None

    def reason_argv(self, daemon: str) -> list[str] | None:
        """Tells why one is not up, to be read by `reason`; None where its start has told."""
        return ["systemctl", "show", f"--property={ASKED}", daemon] if self.by_systemd else None

    def unit_argv(self, daemon: str) -> list[str]:
        """Tells how the unit of one is, to be read by `is_wanted_and_down`."""
        return ["systemctl", "show", f"--property={UNIT_STATES}", daemon]

    # What a person reads

    def command(self, verb: str, daemon: str) -> str:
        """What is typed to start, stop or restart one: "systemctl start ganeti-noded", or its own name."""
        if self.by_systemd:
            return f"systemctl {verb} {daemon}"
        return daemon if verb == "start" else f"{verb} {daemon}"

    def log(self, daemon: str, log_file: Path) -> str:
        """Where one says more. @param log_file: where it does when it logs to a file."""
        return f"journalctl -u {daemon}" if self.by_systemd else str(log_file)


def reason(shown: str) -> str:
    """Why a daemon is not up, from what `reason_argv` printed; "" when systemd does not know."""
    told = dict(line.partition("=")[::2] for line in shown.splitlines())
    if (status := told.get("StatusText", "")).startswith(FATAL):
        return status.removeprefix(FATAL)
    return "the conditions of its unit are not met" if told.get("ConditionResult") == "no" else ""


def is_wanted_and_down(shown: str) -> bool:
    """Whether a unit is enabled and nothing of it runs, nor is about to, from what `unit_argv` printed.

    One that the administrator has disabled or masked, or never put in place, is not wanted.
    """
    told = dict(line.partition("=")[::2] for line in shown.splitlines())
    return told.get("UnitFileState", "") in ENABLED and told.get("ActiveState", "") in DOWN


def last_line(*texts: str) -> str:
    """The last line that says something in the first text that does."""
    for text in texts:
        if lines := [line.strip() for line in text.splitlines() if line.strip()]:
            return lines[-1]
    return ""


def not_started(daemon: str, why: Sequence[str], log: str) -> str:
    """One line. @param why: the first that says something is taken."""
    told = next(filter(None, why), "it ended without a word")
    if any(each.endswith(NO_UNIT.format(daemon)) for each in why):
        return f"{daemon} did not start: systemd knows no unit {daemon}; run ganeti-setup, which puts it in place"
    return f"{daemon} did not start: {told.removeprefix(f'{daemon}: ').removeprefix(FATAL)}; see {log}"
