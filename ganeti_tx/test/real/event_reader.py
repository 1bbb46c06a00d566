"""A reader of the Remote API's events over TLS, in a thread, which comes again whenever it is told to."""

import base64
import http.client
import json
import socket
import ssl
import threading
from typing import Any

from ganeti_tx.sse import SseEvent, SseParser
from ganeti_tx.test.real.programs import until

LIMIT = 300.0


class EventReader:
    """Remembers every event of all its connections, in the order in which they came."""

    def __init__(self, host: str, login: str, query: str = "") -> None:
        self._host, self._path = host, f"/2/events{query}"
        self._authorization = "Basic " + base64.b64encode(login.encode()).decode()
        self._parser = SseParser()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread()
        self.events: list[SseEvent] = []

    def connect(self) -> None:
        """Begin, or go on; returns when the server has answered."""
        trusting = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection(self._host, 5080, timeout=LIMIT, context=trusting)
        headers = {"Authorization": self._authorization}
        if self._parser.last_id:
            headers["Last-Event-ID"] = self._parser.last_id
        connection.request("GET", self._path, headers=headers)
        self._socket = connection.sock
        answer = connection.getresponse()
        if answer.status != 200:
            raise AssertionError(f"{answer.status}: {answer.read()!r}")
        self._parser.lost()
        self._thread = threading.Thread(target=self._read, args=(answer,), daemon=True)
        self._thread.start()
        until(lambda: bool(self._parser.last_id), "the first event id")

    def _read(self, answer: http.client.HTTPResponse) -> None:
        try:
            while data := answer.read1(65536):
                self.events += self._parser.feed(data)
        except (OSError, http.client.HTTPException, ValueError):
            return  # the connection is lost, as the test wants it

    def drop(self) -> None:
        """Lose the connection without a word."""
        if self._socket is not None:
            self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        self.wait_for_end()

    def wait_for_end(self) -> None:
        """Until nothing comes any more."""
        self._thread.join(LIMIT)

    def told(self, **wanted: Any) -> bool:
        """Whether there was an event with these values."""
        return any(wanted.items() <= json.loads(event.data).items() for event in list(self.events))

    def wait(self, **wanted: Any) -> None:
        """Until there was."""
        until(lambda: self.told(**wanted), f"an event with {wanted}")

    def numbers(self) -> list[int]:
        """The numbers in the ids of the events."""
        return [int(event.id.rpartition("-")[2]) for event in list(self.events)]
