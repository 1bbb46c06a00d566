"""Those who connect to the end that receives: their handshakes go on side by side, so that who says nothing holds nobody up."""

import selectors
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress

from attrs import define, field

#: Handshakes at a time, of which the oldest gives way to another, and seconds for one.
MOST, LIMIT = 64, 20.0


@define
class Arrivals:
    """Takes connections, and gives those whose handshake is done; leaving the context hangs up on all others."""

    listener: socket.socket
    context: ssl.SSLContext
    _selector: selectors.BaseSelector = field(factory=selectors.DefaultSelector)
    _begun: dict[ssl.SSLSocket, float] = field(factory=dict)

    def __enter__(self) -> "Arrivals":
        self.listener.setblocking(False)
        self._selector.register(self.listener, selectors.EVENT_READ)
        return self

    def __exit__(self, *error: object) -> None:
        for peer in list(self._begun):
            self._hang_up(peer)
        self._selector.close()

    def within(self, seconds: float) -> Iterator[ssl.SSLSocket]:
        """Those who are through after a wait of at most so many seconds; often none."""
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self.listener:
                self._take()
            elif isinstance(peer := key.fileobj, ssl.SSLSocket) and self._is_through(peer):
                self._forget(peer)
                yield peer
        for peer, begun in list(self._begun.items()):
            if time.monotonic() - begun > LIMIT:
                self._hang_up(peer)

    def _take(self) -> None:
        with suppress(OSError):  # it has gone already
            plain, _ = self.listener.accept()
            plain.setblocking(False)
            peer = self.context.wrap_socket(
                plain, server_side=True, do_handshake_on_connect=False, suppress_ragged_eofs=False
            )
            self._begun[peer] = time.monotonic()
            self._selector.register(peer, selectors.EVENT_READ)
        if len(self._begun) > MOST:
            self._hang_up(next(iter(self._begun)))

    def _is_through(self, peer: ssl.SSLSocket) -> bool:
        if peer not in self._begun:  # it gave way to one that came at the same time
            return False
        try:
            peer.do_handshake()
        except ssl.SSLWantReadError:
            self._selector.modify(peer, selectors.EVENT_READ)
        except ssl.SSLWantWriteError:
            self._selector.modify(peer, selectors.EVENT_WRITE)
        except OSError:  # a stranger
            self._hang_up(peer)
        else:
            return True
        return False

    def _forget(self, peer: ssl.SSLSocket) -> None:
        del self._begun[peer]
        self._selector.unregister(peer)

    def _hang_up(self, peer: ssl.SSLSocket) -> None:
        self._forget(peer)
        peer.close()
