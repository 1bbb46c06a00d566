"""Whether what was sent arrives: the kernel knows of a connection what has been acknowledged, and when."""

import socket
import sys

#: Of Linux's tcp_info: segments that are sent and not acknowledged, and milliseconds since an acknowledgement last came.
_UNACKNOWLEDGED, _SINCE = 24, 56
_SIZE = 60


def is_unheard(connection: socket.socket, seconds: float) -> bool:
    """Whether something is under way, and nothing at all has been acknowledged for so long."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)
    return _number(info, _UNACKNOWLEDGED) > 0 and _number(info, _SINCE) >= 1000 * seconds


def _number(info: bytes, at: int) -> int:
    return int.from_bytes(info[at : at + 4], sys.byteorder)
