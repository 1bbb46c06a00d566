"""Starts daemons of a devcluster again that died, as systemd does on real nodes.

A daemon that ends in order removes its pid file; one that dies leaves it there, unlocked. So what was stopped stays
stopped, whoever started and stopped it, and nobody has to tell the supervisor.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import attrs

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.errors import ExitCode

#: Seconds between two looks; a daemon counts as dead when it is so in two.
INTERVAL = 0.1
#: Seconds before the first, second ... start of a daemon that dies again and again; the last goes on.
PAUSES = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
#: Seconds for which a daemon must run until its deaths before are forgotten.
GOOD_LIFE = 3.0
#: A daemon that ends so may not run on this node: it is not tried again.
REFUSED = (ExitCode.NOTMASTER, ExitCode.NODESETUP_ERROR)

#: A node and the name of one of its daemons.
Daemon = tuple[DevNode, str]


class IStarting(Protocol):
    """A start under way, as subprocess.Popen is one."""

    def poll(self) -> int | None:
        """The exit status; None while it goes on."""


@attrs.define
class Case:
    """A daemon that died, until it has run well for a while."""

    seen: float
    deaths: int = 0
    due: float | None = None
    starting: IStarting | None = None
    up_since: float | None = None


@attrs.define
class Supervisor:
    """Decides what to start when; `look` is to be called every INTERVAL.

    `daemons` gives those that have a pid file, and whether a process holds it.
    """

    daemons: Callable[[], Mapping[Daemon, bool]]
    start: Callable[[DevNode, str], IStarting]
    say: Callable[[str], None]
    _cases: dict[Daemon, Case] = attrs.field(factory=dict, init=False)

    def look(self, now: float) -> None:
        """See who died, start whose time has come, and hear how the starts went."""
        lives = self.daemons()
        for daemon, living in lives.items():
            if not living and daemon not in self._cases:
                self._cases[daemon] = Case(now)
        for daemon, case in list(self._cases.items()):
            if case.starting is not None:
                self._hear(daemon, case, now)
            elif lives.get(daemon):
                self._see_alive(daemon, case, now)
            elif case.due is not None:  # also when there is no pid file: a start that fails removes it
                self._start_in_time(daemon, case, now)
            elif daemon in lives:
                self._see_dead(daemon, case, now)
            else:  # it was stopped
                del self._cases[daemon]

    def _see_alive(self, daemon: Daemon, case: Case, now: float) -> None:
        case.due = None  # somebody else may have been quicker
        if case.up_since is None:
            case.up_since = now
        elif now - case.up_since > GOOD_LIFE:
            del self._cases[daemon]

    def _see_dead(self, daemon: Daemon, case: Case, now: float) -> None:
        if case.seen == now:
            return
        case.up_since = None
        self._plan(daemon, case, now, "died")
        self._start_in_time(daemon, case, now)

    def _plan(self, daemon: Daemon, case: Case, now: float, what: str) -> None:
        pause = PAUSES[min(case.deaths, len(PAUSES) - 1)]
        case.deaths += 1
        case.due = now + pause
        self.say(f"{named(daemon)} {what}; starting it again" + (f" in {pause:g} s" if pause else ""))

    def _start_in_time(self, daemon: Daemon, case: Case, now: float) -> None:
        if case.due is not None and now >= case.due:
            case.due = None
            case.starting = self.start(*daemon)

    def _hear(self, daemon: Daemon, case: Case, now: float) -> None:
        assert case.starting is not None
        status = case.starting.poll()
        if status is None:
            return
        case.starting = None
        if status == ExitCode.SUCCESS:
            case.seen = case.up_since = now
            self.say(f"{named(daemon)} runs again")
        elif status in REFUSED:
            del self._cases[daemon]
            self.say(f"{named(daemon)} may not run there any more; its log says why")
        else:
            self._plan(daemon, case, now, f"did not start (status {status})")


def named(daemon: Daemon) -> str:
    """A daemon for the log."""
    return f"{daemon[1]} on {daemon[0].name}"
