"""HTTP/1.1 as bytes, without any I/O: writing a request, reading its response as the bytes come. h11 knows the protocol."""

from typing import Final

import h11

from ganeti_tx.rapi_client.errors import AnswerError, NoAnswerError, shortened
from ganeti_tx.rapi_client.message import Message
from ganeti_tx.rapi_client.server import Server

#: Bytes of the status line with all headers, and of any other line.
LARGEST_HEAD: Final = 64 * 1024

#: What h11 takes a response for the answer to: how it is read is the same for all methods that clients use.
_ASKED: Final = (h11.Request(method="GET", target="/", headers=[("Host", "server")]), h11.EndOfMessage())


def request_bytes(server: Server, message: Message) -> bytes:
    """A request as it is sent."""
    headers = [("Host", server.netloc), *server.headers(message)]
    if message.body is not None or message.method in ("PUT", "POST"):
        headers.append(("Content-Length", str(len(message.body or b""))))
    writing = h11.Connection(h11.CLIENT)
    request = h11.Request(method=message.method, target=message.target, headers=headers)
    events = [request, *([h11.Data(data=message.body)] if message.body else []), h11.EndOfMessage()]
    return b"".join(writing.send(event) or b"" for event in events)


class Response:
    """One response, fed with the bytes that come.

    After each `feed` the new bytes of its body are in the return value; `started` says whether status and headers are
    there, `ended` whether the body is complete.
    """

    def __init__(self) -> None:
        self.status = 0
        #: By lower-case name; of repeated ones the values are joined by commas.
        self.headers: dict[str, str] = {}
        self.started = False
        self.ended = False
        self._reading = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD)
        for event in _ASKED:
            self._reading.send(event)

    @property
    def reusable(self) -> bool:
        """Whether the connection can be used again."""
        return self._reading.their_state is h11.DONE

    def feed(self, data: bytes) -> bytes:
        """Take in what came; the bytes of the body among it. @raise AnswerError: it is no HTTP response."""
        if self.ended and data:
            raise AnswerError("The server sent more than one answer to one request")
        if not data:
            return b""  # to h11 that would be the end of the connection
        try:
            self._reading.receive_data(data)
            body = self._events()
        except h11.RemoteProtocolError as error:
            raise AnswerError(f"The server does not speak HTTP/1.1: {shortened(str(error))}") from None
        if self.ended and self._reading.trailing_data[0]:
            raise AnswerError("The server sent more than one answer to one request")
        return body

    def closed(self) -> None:
        """The server has closed the connection. @raise NoAnswerError: the response was not complete."""
        if not self.ended:
            try:
                self._reading.receive_data(b"")
                self._events()
            except h11.RemoteProtocolError:
                pass  # it breaks off
        if not self.ended:
            raise NoAnswerError("The server closed the connection before its answer was complete")

    def _events(self) -> bytes:
        body = []
        while not self.ended:
            match self._reading.next_event():
                case h11.Response() as head:
                    self._begin(head)
                case h11.Data() as part:
                    body.append(bytes(part.data))
                case h11.EndOfMessage():
                    self.ended = True
                case h11.InformationalResponse():
                    continue  # only announces the real one
                case _:
                    break
        return b"".join(body)

    def _begin(self, head: h11.Response) -> None:
        self.started = True
        self.status = head.status_code
        for raw, value in head.headers:
            name, text = raw.decode("ascii"), value.decode("latin-1")
            self.headers[name] = f"{self.headers[name]}, {text}" if name in self.headers else text
        # h11 would take the first; somebody on the way may mean the other
        if {"transfer-encoding", "content-length"} <= self.headers.keys():
            raise AnswerError("The length of the answer is not clear: it has Transfer-Encoding and Content-Length")
