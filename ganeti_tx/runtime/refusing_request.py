"""A request whose body may be refused before it is read."""

from twisted.web.server import Request

from ganeti_tx.runtime.limited_channel import LINGER, LimitedChannel

TOO_LARGE = b"HTTP/1.1 413 Request Entity Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class RefusingRequest(Request):
    """What is refused is not read, is no request to whoever answers such, and ends its connection."""

    _refused = False

    @property
    def limited(self) -> LimitedChannel:
        """Its connection, which is there until the request is finished."""
        return channel_of(self)

    def refuse_body(self, answer: bytes = TOO_LARGE) -> None:
        """Instead of `gotLength`, whose length is known by then."""
        channel = self.limited
        self._refused = True
        super().gotLength(0)
        channel.write(answer)
        channel.loseConnection()
        channel.allow(LINGER)

    def handleContentChunk(self, data: bytes) -> None:
        if not self._refused:
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        if not self._refused:
            self.limited.came_in_time()
            super().requestReceived(command, path, version)


def channel_of(request: Request) -> LimitedChannel:
    """Its connection, which is there until the request is finished."""
    assert isinstance(request.channel, LimitedChannel)
    return request.channel
