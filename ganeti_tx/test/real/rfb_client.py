"""A client of VNC, as far as the greeting goes: RFB 3.8, VeNCrypt with TLS, and the password (it blocks)."""

import socket
import ssl
import struct
from pathlib import Path

from attrs import frozen
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from twisted.trial.unittest import SkipTest

try:
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
except ImportError:  # an older one
    from cryptography.hazmat.primitives.ciphers.algorithms import TripleDES

VERSION = b"RFB 003.008\n"
#: Kinds of security, and those of VeNCrypt.
NONE, VNC_PASSWORD, VENCRYPT = 1, 2, 19
ANONYMOUS_NONE, ANONYMOUS_PASSWORD, X509_NONE, X509_PASSWORD = 257, 258, 260, 261
LIMIT = 20.0


class Refused(Exception):
    """The server does not let this client in; with its words."""


@frozen
class RfbClient:
    """Who wants to see a display. @ivar password: None: has none to give."""

    where: tuple[str, int]
    trust: Path | None = None
    certificate: Path | None = None
    password: str | None = None
    server_name: str = "cluster.example.com"

    def greet(self) -> tuple[int, int]:
        """Come as far as the server lets one in; the kinds of security. @raise Refused: not so far. @raise ssl.SSLError: no TLS."""
        with socket.create_connection(self.where, LIMIT) as plain:
            exact(plain, len(VERSION))
            plain.sendall(VERSION)
            (kind,) = offered = exact(plain, exact(plain, 1)[0])
            plain.sendall(bytes(offered))
            if kind != VENCRYPT:
                self._prove(plain, kind == VNC_PASSWORD)
                return kind, 0
            (inner,) = self._begin_vencrypt(plain)
            with self._context(inner).wrap_socket(plain, server_hostname=self.server_name) as secure:
                self._prove(secure, inner in (ANONYMOUS_PASSWORD, X509_PASSWORD))
                return kind, inner

    def _begin_vencrypt(self, plain: socket.socket) -> tuple[int, ...]:
        exact(plain, 2)
        plain.sendall(bytes([0, 2]))
        assert exact(plain, 1) == b"\0", "version 0.2 of VeNCrypt"
        count = exact(plain, 1)[0]
        kinds = struct.unpack(f">{count}I", exact(plain, 4 * count))
        plain.sendall(struct.pack(">I", kinds[0]))
        assert exact(plain, 1) == b"\1"
        return kinds

    def _context(self, inner: int) -> ssl.SSLContext:
        if inner in (ANONYMOUS_NONE, ANONYMOUS_PASSWORD):
            raise SkipTest("TLS without certificates is not what this client speaks")
        context = ssl.create_default_context(cafile=str(self.trust))
        if self.certificate is not None:
            context.load_cert_chain(str(self.certificate))
        return context

    def _prove(self, stream: socket.socket, asked: bool) -> None:
        if asked:
            challenge = exact(stream, 16)
            stream.sendall(encrypted(challenge, self.password or ""))
        if exact(stream, 4) != bytes(4):
            (size,) = struct.unpack(">I", exact(stream, 4))
            raise Refused(exact(stream, size).decode("utf-8", "replace"))


def exact(stream: socket.socket, size: int) -> bytes:
    """So many bytes. @raise Refused: the server hangs up."""
    data = b""
    while len(data) < size:
        more = stream.recv(size - len(data))
        if not more:
            raise Refused("the server hangs up")
        data += more
    return data


def encrypted(challenge: bytes, password: str) -> bytes:
    """By DES with the password, whose bytes are read from the other end, as VNC does it."""
    key = bytes(int(f"{byte:08b}"[::-1], 2) for byte in password.encode()[:8].ljust(8, b"\0"))
    encryptor = Cipher(TripleDES(key * 3), modes.ECB()).encryptor()
    return encryptor.update(challenge) + encryptor.finalize()
