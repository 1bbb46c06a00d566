"""Whether instances live."""

import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.burnin.living import fetched

HERE = "127.0.0.1"


class Guest(BaseHTTPRequestHandler):
    """Tells its name, after what `answer` says."""

    answer = (200, f"{HERE}\n")

    def do_GET(self) -> None:
        """As HTTPServer calls it."""
        status, text = self.answer if self.path == "/hostname.txt" else (404, "")
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: object) -> None:
        """Nobody reads it."""


class Dripping(Guest):
    """Sends `line` again and again, with pauses, and its name at last."""

    line, times, pause = b"X", 300, 0.02

    def do_GET(self) -> None:
        """As HTTPServer calls it."""
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
            for _ in range(self.times):
                self.wfile.write(self.line)
                time.sleep(self.pause)
            self.wfile.write(f"\r\n\r\n{HERE}".encode())
        except OSError:
            self.close_connection = True


class FetchTests(SynchronousTestCase):
    """A guest that answers, or not, on this machine."""

    def answered(self, status: int, text: str) -> str:
        """What is thought of an answer."""
        return self.asked(type("Guest", (Guest,), {"answer": (status, text)}))

    @staticmethod
    def asked(guest: type[BaseHTTPRequestHandler], limit: float = 60) -> str:
        """What is thought of a guest."""
        with HTTPServer((HERE, 0), guest) as server:
            thread = threading.Thread(target=server.handle_request)
            thread.start()
            try:
                return fetched(HERE, server.server_port, limit)
            finally:
                thread.join()

    def test_lives(self) -> None:
        """It has its name."""
        self.assertEqual(self.answered(200, f"{HERE}\n"), "")

    def test_other(self) -> None:
        """It has another one, or no such file; a long answer is not shown in full."""
        self.assertIn("has 'web2', not the instance's name", self.answered(200, "web2\n"))
        self.assertIn("answered with status 500", self.answered(500, "no"))
        self.assertLess(len(self.answered(200, "x" * 100_000)), 200)

    def test_drips(self) -> None:
        """One that never stops within the time of all reads together."""
        self.assertIn("there is no whole answer after 0.2 s", self.asked(Dripping, 0.2))

    def test_pours(self) -> None:
        """One that sends headers without end."""
        lines = {"line": b"1\r\nX-More: " + b"x" * 8000, "times": 40, "pause": 0}
        self.assertIn("the answer is longer than 65536 bytes", self.asked(type("Pouring", (Dripping,), lines)))

    def test_nobody(self) -> None:
        """Nobody listens."""
        with HTTPServer((HERE, 0), Guest) as server:
            port = server.server_port
        self.assertIn("cannot be had: [Errno 111]", fetched(HERE, port))
