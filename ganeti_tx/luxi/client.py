"""The blocking LUXI client of the command line; it imports no Twisted, since a command must answer in a blink."""

import socket
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from ganeti_tx.luxi import timeouts, transport_errors
from ganeti_tx.luxi.answers import result_of
from ganeti_tx.luxi.calls import Calls
from ganeti_tx.luxi.daemon import LUXI_DAEMON, Daemon, connect_error
from ganeti_tx.luxi.framing import MAX_RESPONSE, FrameBuffer, FrameTooLong, Message, frame
from ganeti_tx.luxi.messages import CLIENT_VERSION, Request, encode_request

_CHUNK = 64 * 1024
_BUSY_PAUSE = 0.05


class Client(Calls):
    """One connection to the master, opened by the first call and again when the server has closed an idle one."""

    def __init__(
        self,
        socket_path: str,
        *,
        daemon: Daemon = LUXI_DAEMON,
        connect_timeout: float = timeouts.CONNECT,
        io_timeout: float = timeouts.READ_WRITE,
        answer_timeout: float = timeouts.WHOLE_ANSWER,
    ) -> None:
        """Time-outs are in seconds; `io_timeout` is for each read and write, `answer_timeout` for a whole answer."""
        self._path = socket_path
        self._daemon = daemon
        self._connect_timeout = connect_timeout
        self._io_timeout = io_timeout
        self._answer_timeout = answer_timeout
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, if there is one; the next call opens another."""
        connection, self._socket = self._socket, None  # first, since an interrupt may come any time
        if connection is not None:
            connection.close()

    def call(self, method: str, args: list[Any]) -> Any:
        """Send one request and wait for its result.

        @raise NoMasterError: nobody listens on the socket; the text says who should and how to start it.
        @raise ProtocolError: no answer could be had; whether the request was carried out is not known.
        @raise GanetiError: the server's error.
        """
        message = frame(encode_request(Request(method, args, CLIENT_VERSION)))
        try:
            answer = self._exchange(message)
        except BaseException:
            self.close()  # half an answer may still come, which no later call may take for its own
            raise
        return result_of(answer)

    def _exchange(self, message: bytes) -> Message:
        connection = self._connection()
        try:
            try:
                connection.sendall(message)
            except (BrokenPipeError, ConnectionResetError) as error:
                return self._last_word(connection, error)
            return self._receive(connection)
        except TimeoutError:
            raise transport_errors.TimeoutError(f"No answer from {self._path} within the time limit") from None
        except OSError as error:
            raise transport_errors.ConnectionClosedError(f"Connection to {self._path} lost: {error.strerror}") from None

    def _last_word(self, connection: socket.socket, refused: OSError) -> Message:
        """What a server said before it hung up on us; without a word it is the error."""
        try:
            return self._receive(connection)
        except (OSError, transport_errors.ProtocolError):
            raise refused from None

    def _receive(self, connection: socket.socket) -> Message:
        buffer = FrameBuffer(MAX_RESPONSE)
        deadline = time.monotonic() + self._answer_timeout
        while time.monotonic() < deadline:
            data = connection.recv(_CHUNK)
            if not data:
                raise transport_errors.ConnectionClosedError(f"{self._path} was closed before the answer had come")
            try:
                answers = list(buffer.feed(data))
            except FrameTooLong as error:
                raise transport_errors.ProtocolError(f"The answer from {self._path} cannot be read: {error}") from None
            if answers:
                return _only(answers, buffer.unfinished)
        raise TimeoutError

    def _connection(self) -> socket.socket:
        if self._socket is not None and _hung_up(self._socket):
            self.close()
        if self._socket is None:
            self._socket = self._connect()
        return self._socket

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(self._io_timeout)
        try:
            _retry_while_busy(lambda: connection.connect(self._path), self._connect_timeout)
        except OSError as error:
            connection.close()
            raise connect_error(self._daemon, self._path, error) from None
        return connection


def _retry_while_busy(connect: Callable[[], None], limit: float) -> None:
    """Connect, again while the server's listen queue is full (EAGAIN), for so many seconds."""
    deadline = time.monotonic() + limit
    while True:
        try:
            return connect()
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(_BUSY_PAUSE)


def _hung_up(connection: socket.socket) -> bool:
    """Whether the server has closed the connection, or sent what nobody asked for, since the last call."""
    limit = connection.gettimeout()
    connection.setblocking(False)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        connection.settimeout(limit)
    return True


def _only(answers: list[Message], unfinished: int) -> Message:
    if len(answers) > 1 or unfinished:
        raise transport_errors.ProtocolError("The server sent more than one answer to one request")
    return answers[0]
