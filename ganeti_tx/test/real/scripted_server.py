"""A TLS server that answers as a test tells it, rightly or wrongly."""

import datetime
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

from ganeti_tx.rapi_client.errors import shortened
from ganeti_tx.runtime.certificates import Identity, create_authority, issue_server

#: Makes the server's certificate, signed by an authority.
Issue = Callable[[Identity], Identity]
#: What is sent for a request's head and body; then the connection is closed when the second says so.
Script = Callable[[str, bytes], tuple[bytes, bool]]
LIMIT = 30.0


def ok(body: str, *headers: str) -> tuple[bytes, bool]:
    """A plain answer of success over a connection that stays open."""
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body.encode())}", *headers, "", body]
    return "\r\n".join(lines).encode(), False


def issue_right(authority: Identity) -> Identity:
    """For the address at which it listens."""
    return issue_server(authority, ["127.0.0.1"], datetime.datetime.now(datetime.UTC))


class ScriptedServer:
    """Listens on a port of 127.0.0.1; keeps what it is sent."""

    def __init__(self, directory: Path, script: Script, issue: Issue = issue_right) -> None:
        authority = create_authority("scripted", datetime.datetime.now(datetime.UTC))
        own = issue(authority)
        self.bundle = directory / "rapi.pem"
        self.bundle.write_bytes(own.bundle)
        self.authority = directory / "ca.pem"
        self.authority.write_bytes(authority.certificate)
        self.der = ssl.PEM_cert_to_DER_cert(own.certificate.decode())
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(self.bundle)
        #: The names that clients have asked for while TLS began.
        self.names: list[str | None] = []
        self._tls.sni_callback = lambda connection, name, context: self.names.append(name)
        self._script = script
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        self.port: int = self._listening.getsockname()[1]
        #: The heads of all requests, and how many connections were made.
        self.heads: list[str] = []
        self.connections = 0

    def close(self) -> None:
        """End all connections and wait for all threads."""
        for each in (self._listening, *self._open):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it is closed already
        self._listening.close()
        for thread in self._threads:
            thread.join(LIMIT)

    def _accept(self) -> None:
        while True:
            try:
                plain, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(plain)
            self._threads.append(threading.Thread(target=self._serve, args=(plain,)))
            self._threads[-1].start()

    def _serve(self, plain: socket.socket) -> None:
        try:
            plain.settimeout(LIMIT)
            with self._tls.wrap_socket(plain, server_side=True) as connection:
                self._open.append(connection)
                while (asked := _request(connection)) is not None:
                    self.heads.append(asked[0])
                    answer, close = self._script(*asked)
                    connection.sendall(answer)
                    if close:
                        return
        except OSError:
            return  # the client does not want to talk, or the test is over


def _request(connection: ssl.SSLSocket) -> tuple[str, bytes] | None:
    data = b""
    while b"\r\n\r\n" not in data:
        came = connection.recv(65536)
        if not came:
            return None
        data += came
    head, _, body = data.partition(b"\r\n\r\n")
    text = head.decode()
    lengths = [line.split(":")[1] for line in text.split("\r\n") if line.lower().startswith("content-length:")]
    if len(lengths) > 1:
        raise AssertionError(f"two lengths: {shortened(text)}")
    while len(body) < int(lengths[0] if lengths else 0):
        body += connection.recv(65536)
    return text, body
