"""What a client raises when no answer can be had; none of these travels over the wire.

The names are those of the Ganeti 3.0 LUXI table. Two of them are also Python's: import this module, not the names.
"""

from ganeti_tx.errors import LuxiError


class ProtocolError(LuxiError):
    """The other side does not speak the protocol."""


class ConnectionClosedError(ProtocolError):
    """The server closed the connection before it had answered."""


class TimeoutError(ProtocolError):
    """The server did not connect, take the request or answer within the limit."""


class RequestError(ProtocolError):
    """The server refused a request with something other than an error of Ganeti's."""


class NoMasterError(ProtocolError):
    """Nobody listens on the socket: the daemon is down, or this node is not the master."""


class PermissionError(ProtocolError):
    """The user of this process may not open the socket."""
