"""What a client of the Remote API raises; none of these travels over the wire."""

from typing import Any

from ganeti_tx.errors import GanetiError, one_line


class ClientError(GanetiError):
    """Anything that a call of the client may fail with; only failed jobs raise Ganeti's other classes."""


class RapiError(ClientError):
    """The server answered with an error."""

    def __init__(self, status: int, message: str, explain: str = "") -> None:
        super().__init__(status, message, explain)

    def __str__(self) -> str:
        return one_line(f"{self.message} (HTTP status {self.status})")

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(self._arg(0, 0))

    @property
    def code(self) -> int:
        """The same, by the name that it has in the error body."""
        return self.status

    @property
    def message(self) -> str:
        """What is wrong."""
        return str(self._arg(1))

    @property
    def explain(self) -> str:
        """What the status means in general."""
        return str(self._arg(2))


class NoAnswerError(ClientError):
    """No answer came: the server is down, silent or went away; whether the request was carried out is not known."""


class CertificateError(NoAnswerError):
    """The server's certificate is not one that is trusted, or not for its name; nothing was sent to it."""


class AnswerError(ClientError):
    """What came is no answer of the Remote API."""


class StillRunningError(ClientError):
    """A job had not ended when the time for waiting was over; it goes on."""


def shortened(value: Any, size: int = 100) -> str:
    """Something from the other side, as far as it fits into a message."""
    text = repr(value)
    return text if len(text) <= size else text[:size] + "..."
