"""A `ganeti-rapi` of its own for tests, without a master behind it."""

import datetime
import json
import os
import secrets
import socket
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ganeti_tx.runtime.certificates import create_authority, issue_server
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.rapi.requests import Answer, parse
from ganeti_tx.test.real.programs import SOURCE, until

PORT = 5080
RUN = "import sys; from ganeti_tx.daemons import rapi; sys.exit(rapi())"


class RapiProcess:
    """Over TLS on a loopback address of its own; `close` leaves nothing."""

    def __init__(self, *options: str) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="gtx-rapi")
        self.paths = Paths(Path(self._directory.name))
        self.address = ".".join(["127", *(str(secrets.randbelow(253) + 1) for _ in range(3))])
        self.paths.rapi_pem.parent.mkdir(parents=True)
        self.authority = self.new_certificate("rapi.example")
        environment = {
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "GANETI_ROOTDIR": str(self.paths.root),
            "GANETI_HOSTNAME": "localhost",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, "--foreground", "--bind", self.address, *options],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        until(self.listens, "the Remote API")

    def listens(self) -> bool:
        """Whether somebody takes connections."""
        with socket.socket() as probe:
            return probe.connect_ex((self.address, PORT)) == 0

    def new_certificate(self, name: str) -> bytes:
        """Give it another certificate, of another authority, whose certificate is returned."""
        now = datetime.datetime.now(datetime.UTC)
        authority = create_authority(name, now)
        fresh = self.paths.rapi_pem.with_suffix(".fresh")
        fresh.write_bytes(issue_server(authority, [name], now).bundle)
        fresh.replace(self.paths.rapi_pem)
        return authority.certificate

    def trust(self, authority: bytes | None = None) -> ssl.SSLContext:
        """For a client that takes only certificates of the authority; of this one without any."""
        context = ssl.create_default_context(cadata=(authority or self.authority).decode("ascii"))
        context.check_hostname = False
        return context

    def connect(self, context: ssl.SSLContext | None = None, session: ssl.SSLSession | None = None) -> ssl.SSLSocket:
        """A connection that has shaken hands."""
        plain = socket.create_connection((self.address, PORT), timeout=30)
        return (context or self.trust()).wrap_socket(plain, session=session)

    def ask(self, head: bytes, body: bytes = b"") -> Answer:
        """The answer to one request; `head` goes without its end."""
        with self.connect() as connection:
            connection.sendall(head + b"\r\nConnection: close\r\n\r\n" + body)
            [answer] = parse(heard(connection))
        return answer

    def version(self) -> Any:
        """What a client who behaves gets."""
        return json.loads(self.ask(b"GET /version HTTP/1.1\r\nHost: x").body)

    def sockets(self) -> int:
        """How many descriptors the daemon has open."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def close(self) -> str:
        """End it; what it said."""
        self.process.terminate()
        said, _ = self.process.communicate(timeout=30)
        self._directory.cleanup()
        return said.decode()


def heard(connection: ssl.SSLSocket) -> bytes:
    """All that comes until the other side hangs up."""
    data = b""
    try:
        while piece := connection.recv(65536):
            data += piece
    except (ConnectionResetError, ssl.SSLError):
        pass
    return data
