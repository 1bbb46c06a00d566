"""What a command may touch: the master daemon, the terminal, the environment, other programs, the time."""

import importlib
import io
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TextIO

from ganeti_tx.cli.tree import harmless
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.daemon import Daemon
from ganeti_tx.model.node_port import NODE_PORT

SOCKET = "/var/run/ganeti/socket/ganeti-query"
#: As Ganeti says it.
NO_CLUSTER = "Cluster not initialized or this machine is not part of a cluster"
MASTER_FILE = "/var/lib/ganeti/ssconf_master_node"
KNOWN_HOSTS = "/var/lib/ganeti/known_hosts"
_MAX_NAME_FILE = 4096
#: Seconds for a node to take a connection.
_CONNECT_LIMIT = 2.0
#: Columns and lines of a terminal that does not tell.
_USUAL_SIZE = (80, 24)
#: Back to the beginning of a terminal's line, whose rest is deleted (ECMA-48).
_TAKEN_BACK = "\r\x1b[K"


class Session:
    """One run of one command; every part can be another one in a test."""

    def __init__(
        self,
        *,
        program: str,
        command: str,
        environ: Mapping[str, str],
        out: TextIO,
        err: TextIO,
        stdin: TextIO,
        connect: Callable[[], Client],
        run: Callable[[Sequence[str], bytes | None], int],
        capture: Callable[[Sequence[str]], tuple[int, str]],
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        read: Callable[[str], str] | None = None,
        connect_to: Callable[[str, Daemon], Client] = lambda path, daemon: Client(path, daemon=daemon),
        listens: Callable[[str], bool] | None = None,
    ) -> None:
        self.program = program
        self.command = command
        self.environ = environ
        self.stdin = stdin
        self.run = run
        self.capture = capture
        self.now = now
        self.sleep = sleep
        self.read = read or read_name
        #: To another daemon than luxid, by its socket.
        self.connect_to = connect_to
        #: Whether a node daemon listens at an address.
        self.listens = listens or node_daemon_listens
        #: How a value becomes a document for programs, if one is wanted: then nothing else goes to standard output.
        self.document: Callable[[Any, Sequence[str] | None], str] | None = None
        self.emitted = False
        #: The jobs that were submitted, each with the error that it has ended with.
        self.jobs: dict[int, str | None] = {}
        #: Why others were not taken.
        self.refusals: list[str] = []
        #: auto, always or never.
        self.color = "auto"
        #: Of what is collected, which goes to the same place in the end.
        self._painting: bool | None = None
        self._out = out
        #: Whether somebody reads the result; what is collected goes there in the end.
        self._seen = out.isatty()
        self._err = err
        self._connect = connect
        self._client: Client | None = None
        self._status_shown = False

    @property
    def client(self) -> Client:
        """The connection to the master daemon. @raise OpPrereqError: this node is not the master."""
        if self._client is None:
            self._client = self._connect()
        return self._client

    @property
    def interactive(self) -> bool:
        """Whether somebody can be asked."""
        return self.stdin.isatty()

    @property
    def shows_to_person(self) -> bool:
        """Whether somebody reads the errors as they come."""
        return self._err.isatty()

    @property
    def paints(self) -> bool:
        """Whether the result gets colours."""
        if self._painting is not None:
            return self._painting
        return self.document is None and wants_colour(self.color, self.environ, self._out)

    @property
    def on_screen(self) -> bool:
        """Whether the result can be drawn anew in its place."""
        return self._out.isatty() and _draws(self.environ)

    def screen_size(self) -> tuple[int, int]:
        """Columns and lines."""
        return _size(self._out)

    @property
    def shows_status(self) -> bool:
        """Whether a line can be taken back, for somebody who looks on."""
        return self.shows_to_person and _draws(self.environ)

    def show_status(self, text: str) -> None:
        """A line that the next one takes the place of, cut to the width of the terminal."""
        if text and self.shows_status:
            self._err.write(f"{_TAKEN_BACK}{harmless(text)[: _size(self._err)[0] - 1]}")
            self._err.flush()
            self._status_shown = True

    def clear_status(self) -> None:
        """Take the line back, if there is one."""
        if self._status_shown:
            self._status_shown = False
            self._err.write(_TAKEN_BACK)
            self._err.flush()

    def print(self, line: str = "") -> None:
        """One line of the result as text, harmless on a terminal; beside a document it is told to whoever looks on."""
        if self.document is not None:
            self.warn(line)
            return
        line = harmless(line)
        self.write((_painted(line) if self.paints else line) + "\n")

    def emit(self, value: Any, columns: Sequence[str] | None = None) -> None:
        """The result as the document that was asked for, which programs get as it is, and terminals as harmless text.

        @param columns: the keys of each row, if it has such.
        """
        assert self.document is not None, "no document was asked for"
        self.emitted = True
        text = self.document(value, columns)
        self.write(harmless(text.replace("\r\n", "\n")) if self._seen else text)

    def collected(self, show: Callable[[], int]) -> tuple[int, str]:
        """What a function returns, and what it would have written."""
        self._painting, out = self.paints, self._out
        self._out = collecting = io.StringIO()
        try:
            return show(), collecting.getvalue()
        finally:
            self._out, self._painting = out, None

    def write_lines(self, lines: Iterable[str]) -> None:
        """Lines of the result as they are, all at once."""
        self.write("".join(f"{line}\n" for line in lines))

    def write(self, text: str) -> None:
        """Text of the result as it is; it goes out at once, since jobs speak slowly."""
        self.clear_status()
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OSError(error.errno, error.strerror, "standard output") from None

    def warn(self, line: str) -> None:
        """One line beside the result."""
        self._tell(line, "painted_line")

    def fail(self, text: str) -> None:
        """The error with which the command ends."""
        self._tell(text, "painted_error")

    def _tell(self, text: str, paint: str) -> None:
        """What nodes, scripts and guests have said may be in it."""
        self.clear_status()
        text = harmless(text)
        wanted = wants_colour(self.color, self.environ, self._err)
        self._err.write((_painted(text, paint) if wanted else text) + "\n")
        self._err.flush()

    def ask(self, question: str) -> str:
        """The line typed as an answer; empty at the end of input."""
        self.clear_status()
        self._err.write(harmless(question))
        self._err.flush()
        return self.stdin.readline().strip()

    def host_name(self) -> str:
        """This node's name, which virtual clusters set in the environment."""
        return host_name(self.environ)

    def other_master(self) -> str | None:
        """The node that is the master, as far as this one knows, when it is another one."""
        try:
            master = master_name(self.environ, self.read)
        except OpPrereqError:
            return None
        return None if is_this_node(self.environ, master) else master


def wants_colour(setting: str, environ: Mapping[str, str], stream: TextIO) -> bool:
    """Whether colours shall go to a stream (no-color.org)."""
    if setting != "auto":
        return setting == "always"
    return stream.isatty() and _draws(environ) and not environ.get("NO_COLOR")


def _draws(environ: Mapping[str, str]) -> bool:
    return environ.get("TERM", "dumb") not in ("", "dumb")


def _painted(text: str, paint: str = "painted_line") -> str:
    """What it takes is read when somebody sees colours, since programs see none."""
    return str(getattr(importlib.import_module("ganeti_tx.cli.colours"), paint)(text))


def _size(stream: TextIO) -> tuple[int, int]:
    try:
        columns, lines = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return _USUAL_SIZE
    return columns or _USUAL_SIZE[0], lines or _USUAL_SIZE[1]


def node_daemon_listens(address: str) -> bool:
    """Whether somebody takes a connection where the node daemon of an address should."""
    try:
        socket.create_connection((address, NODE_PORT), _CONNECT_LIMIT).close()
    except OSError:
        return False
    return True


def rooted(environ: Mapping[str, str], path: str) -> str:
    """A path below the node's root."""
    return environ.get("GANETI_ROOTDIR", "").rstrip("/") + path


def connect_to_master(environ: Mapping[str, str]) -> Client:
    """A client of this node's master daemon.

    @raise OpPrereqError: this node belongs to no cluster, or another one is its master (wrong_input).
    """
    path = rooted(environ, SOCKET)
    if not os.path.exists(path):
        _explain_missing_socket(environ)
    return Client(path)


def _explain_missing_socket(environ: Mapping[str, str]) -> None:
    master = master_name(environ)
    if not is_this_node(environ, master):
        raise OpPrereqError(not_the_master(master), ECode.INVAL)


def not_the_master(master: str) -> str:
    """As Ganeti says it."""
    return f"This is not the master node, please connect to node '{master}' and rerun the command"


def host_name(environ: Mapping[str, str]) -> str:
    """This node's name, as far as the system says it without asking anybody."""
    return environ.get("GANETI_HOSTNAME") or os.uname().nodename


def is_this_node(environ: Mapping[str, str], name: str) -> bool:
    """Whether a node's full name is this one's, of which the system may know the first part only."""
    own = host_name(environ)
    return own in (name, name.partition(".")[0])


def read_name(path: str) -> str:
    """What a file of one name holds. @raise OSError: it cannot be read."""
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read(_MAX_NAME_FILE).strip()


def master_name(environ: Mapping[str, str], read: Callable[[str], str] = read_name) -> str:
    """The master node's name, as every node keeps it.

    @raise OpPrereqError: this node is in no cluster (wrong_input).
    """
    try:
        return read(rooted(environ, MASTER_FILE))
    except FileNotFoundError:
        raise OpPrereqError(f"{NO_CLUSTER}; 'gnt-cluster init' sets one up", ECode.INVAL) from None
    except OSError as error:
        raise OpPrereqError(f"Cannot read {error.filename}: {error.strerror}", ECode.ENVIRON) from None
