"""--watch: a list again and again, in its place on a terminal, one after the other elsewhere."""

import time
from collections.abc import Callable

from ganeti_tx.cli.colours import cut
from ganeti_tx.cli.parsing import OptionError
from ganeti_tx.cli.patience import PATIENCE
from ganeti_tx.cli.session import Session, not_the_master
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.luxi.transport_errors import ProtocolError

#: Seconds between two looks: the fewest and the most.
LEAST, MOST = 1, 3600
#: Lines above the list: what is shown, and an empty one.
_ABOVE = 2
_HOME, _END_OF_LINE, _END_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def watch(session: Session, seconds: int, show: Callable[[], int]) -> int:
    """Show it until the operator has seen enough, which is no failure; what is no success is shown once.

    @raise OptionError: no such pause is possible.
    @raise ProtocolError: the master daemon did not answer at first, or is gone for good.
    @raise OpPrereqError: another node has become the master.
    """
    if not LEAST <= seconds <= MOST:
        raise OptionError(f"option --watch: {seconds} seconds are not possible: give {LEAST} to {MOST}")
    shown = _OnScreen(session, seconds) if session.on_screen else _OneAfterTheOther(session)
    try:
        return _rounds(session, seconds, show, shown)
    except KeyboardInterrupt:
        return ExitCode.SUCCESS


def _rounds(session: Session, seconds: int, show: Callable[[], int], shown: "_OneAfterTheOther | _OnScreen") -> int:
    answered: float | None = None
    while True:
        try:
            status, text = session.collected(show)
        except ProtocolError as error:
            if answered is not None and (master := session.other_master()) is not None:
                raise OpPrereqError(not_the_master(master), ECode.INVAL) from None
            if answered is None or session.now() - answered > PATIENCE:
                raise
            shown.lost(f"Lost the master daemon, trying again every {seconds} seconds: {error}")
        else:
            answered = session.now()
            shown.draw(text)
            if status != ExitCode.SUCCESS:
                return status
        session.sleep(seconds)


class _OneAfterTheOther:
    """For a file or another program; documents need nothing between them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._between = ""
        self._is_lost = False

    def draw(self, text: str) -> None:
        """What is there now."""
        self._session.write(self._between + text)
        self._between = "\n" if self._session.document is None else ""
        self._is_lost = False

    def lost(self, why: str) -> None:
        """Told once, until it is there again."""
        if not self._is_lost:
            self._session.warn(why)
        self._is_lost = True


class _OnScreen:
    """For somebody at a terminal, whose size may change."""

    def __init__(self, session: Session, seconds: int) -> None:
        self._session = session
        self._title = f"Every {seconds} s: {session.program} {session.command}"
        self._text = ""

    def draw(self, text: str) -> None:
        """What is there now, in the place of what was."""
        self._text = text
        self._fill(f"{self._title}  {time.ctime(self._session.now())}")

    def lost(self, why: str) -> None:
        """Above what was there at last."""
        self._fill(why)

    def _fill(self, title: str) -> None:
        width, height = self._session.screen_size()
        lines = self._text.splitlines()
        room = max(1, height - _ABOVE - 1)
        if len(lines) > room:
            lines[room - 1 :] = [f"... {len(lines) - room + 1} lines more"]
        drawn = "".join(f"{cut(line, width)}{_END_OF_LINE}\n" for line in (title, "", *lines))
        self._session.write(f"{_HOME}{drawn}{_END_OF_SCREEN}")
