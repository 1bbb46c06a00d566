"""A client of SPICE, as far as the greeting goes: the link and the password, over TLS or not (it blocks)."""

import socket
import ssl
import struct
from pathlib import Path

from attrs import frozen
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import load_der_public_key

from ganeti_tx.test.real.rfb_client import LIMIT, exact

MAGIC = b"REDQ"
MAIN_CHANNEL = 1
#: What the client can: choose how it proves itself, and by a password.
ABILITIES = 0b11
BY_PASSWORD = 1
KEY_SIZE = 162
#: What the server says at last.
WELCOME, PERMISSION_DENIED, NEED_SECURED = 0, 7, 5


@frozen
class SpiceClient:
    """Who wants to see a display. @ivar trust: over TLS, which this authority must have signed."""

    where: tuple[str, int]
    trust: Path | None = None
    password: str = ""
    ciphers: str = ""
    server_name: str = "cluster.example.com"

    def greet(self) -> int:
        """What the server says at last. @raise Refused: it hangs up. @raise ssl.SSLError: no TLS."""
        with socket.create_connection(self.where, LIMIT) as plain:
            if self.trust is None:
                return self._link(plain)
            context = ssl.create_default_context(cafile=str(self.trust))
            if self.ciphers:
                context.maximum_version = ssl.TLSVersion.TLSv1_2
                context.set_ciphers(self.ciphers)
            with context.wrap_socket(plain, server_hostname=self.server_name) as secure:
                return self._link(secure)

    def _link(self, stream: socket.socket) -> int:
        message = struct.pack("<IBBIIII", 0, MAIN_CHANNEL, 0, 1, 0, 18, ABILITIES)
        stream.sendall(MAGIC + struct.pack("<III", 2, 2, len(message)) + message)
        assert exact(stream, 4) == MAGIC
        _, _, size = struct.unpack("<III", exact(stream, 12))
        reply = exact(stream, size)
        (error,) = struct.unpack("<I", reply[:4])
        if error:
            return int(error)
        key = load_der_public_key(reply[4 : 4 + KEY_SIZE])
        assert isinstance(key, rsa.RSAPublicKey)
        sealing = padding.OAEP(padding.MGF1(SHA1()), SHA1(), None)
        stream.sendall(struct.pack("<I", BY_PASSWORD) + key.encrypt(self.password.encode() + b"\0", sealing))
        (said,) = struct.unpack("<I", exact(stream, 4))
        return int(said)
