"""What two clusters tell one another of an instance that moves, signed with the secret that they share
(reference: remote-export.json).
"""

import hashlib
import hmac
import re
from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from ganeti_tx.errors import ECode, OpPrereqError

#: What both sides speak, and the text that is signed with it.
VERSION, GREETING = 0, "Hi, I'm Ganeti"
#: The type of the entry in the log of a job by which the side that receives tells where it listens.
REMOTE_IMPORT = "remote-import"
#: Of what both sides make. Nothing is between a salt and the text that is signed with it: with a salt of another length the
#: signature of "0:..." and salt "abc1" would be that of "10:..." and salt "abc".
SALT = re.compile(r"[a-zA-Z0-9]{16}")
#: Of a key on a node, which is a directory there.
KEY_NAME = re.compile(r"[a-z0-9][0-9a-zA-Z_-]{0,99}")
KeyName = Annotated[str, Meta(pattern=rf"^{KEY_NAME.pattern}\Z")]
#: Characters of what somebody sent that an error shows.
SHOWN = 60


class DomainSecret(Struct, frozen=True):
    """That of the cluster domain; it shows itself nowhere."""

    value: str

    def __repr__(self) -> str:
        return "<DomainSecret>"

    def sign(self, text: str, salt: str) -> str:
        """The signature of a text: HMAC-SHA1, as Ganeti has it."""
        return hmac.new(self.value.encode(), (salt + text).encode(), hashlib.sha1).hexdigest()

    def has_signed(self, text: str, digest: Any, salt: Any) -> bool:
        """Whether a signature is right; how long the answer takes tells nobody how much of it is."""
        if not isinstance(digest, str) or not isinstance(salt, str) or not SALT.fullmatch(salt):
            return False
        return hmac.compare_digest(self.sign(text, salt).encode(), digest.encode("utf-8", "replace"))


def handshake(secret: DomainSecret, salt: str) -> list[Any]:
    """What the side that sends shows first."""
    return [VERSION, secret.sign(greeting(VERSION), salt), salt]


def greeting(version: Any) -> str:
    """What is signed of a handshake."""
    return f"{version}:{GREETING}"


def check_handshake(secret: DomainSecret, shown: Any) -> None:
    """@raise OpPrereqError: it is not of a cluster that shares the secret, or of one that speaks another version."""
    match shown:
        case [int() as version, digest, salt] if not isinstance(version, bool):
            pass
        case _:
            raise invalid("source_handshake", "a list of version, signature and salt is expected")
    if not secret.has_signed(greeting(version), digest, salt):
        raise invalid(
            "source_handshake",
            "its signature is wrong: the clusters do not share the secret of their domain; 'gnt-cluster renew-crypto"
            " --cluster-domain-secret=FILE' gives both the same",
        )
    if version != VERSION:
        raise invalid("source_handshake", f"version mismatch: it is {version}, and this cluster speaks {VERSION}")


def signed_key_name(secret: DomainSecret, name: str, salt: str) -> list[str]:
    """The name of a key on a node of this cluster, as it is given to others to be shown again."""
    return [name, secret.sign(name, salt), salt]


def key_name(secret: DomainSecret, shown: Any) -> str:
    """The name of an own key. @raise OpPrereqError: this cluster has not given it away."""
    match shown:
        case [str() as name, digest, salt]:
            pass
        case _:
            raise invalid("x509_key_name", "a list of name, signature and salt is expected")
    if not secret.has_signed(name, digest, salt):
        raise invalid("x509_key_name", "its signature is wrong; give it as the preparation of the export gave it")
    if not KEY_NAME.fullmatch(name):
        raise invalid("x509_key_name", f"not the name of a key: {name[:SHOWN]!r}")
    return name


class Destination(Struct, frozen=True):
    """Where the side that receives listens for one disk. @ivar magic: what comes before the bytes, and stands in no log."""

    host: str
    port: int
    magic: str

    def __repr__(self) -> str:
        return f"<Destination {self.host} port {self.port}>"

    def signed(self, secret: DomainSecret, index: int, salt: str) -> list[Any]:
        """As it is told to the side that sends."""
        return [self.host, self.port, self.magic, secret.sign(self._signed_text(index), salt), salt]

    def _signed_text(self, index: int) -> str:
        return f"{index}:{self.host}:{self.port}:{self.magic}"


HOST = re.compile(r"[0-9a-zA-Z:._-]{1,255}")
MAGIC = re.compile(r"[-_.a-zA-Z0-9]{5,100}")


def destination(secret: DomainSecret, index: int, shown: Any) -> Destination:
    """Where a disk goes. @raise OpPrereqError: that is not what the other cluster has said of this disk."""
    where = f"target_node: disk/{index}"
    match shown:
        case [host, port, magic, digest, salt]:
            pass
        case _:
            raise invalid(where, "a list of host, port, magic, signature and salt is expected")
    if not host or not port or not magic:
        raise invalid(where, "missing destination host, port or magic")
    port = int(port) if isinstance(port, str) and port.isascii() and port.isdigit() and len(port) < 6 else port
    if not isinstance(host, str) or not HOST.fullmatch(host):
        raise invalid(where, f"not a host: {str(host)[:SHOWN]!r}")
    if not isinstance(port, int) or not 1 <= port <= 65535:
        raise invalid(where, f"not a port: {str(port)[:SHOWN]!r}; allowed are 1 to 65535")
    if not isinstance(magic, str) or not MAGIC.fullmatch(magic):
        raise invalid(where, "the magic is none: 5 to 100 letters, digits, dots, dashes and underscores are expected")
    found = Destination(host, port, magic)
    if not secret.has_signed(found._signed_text(index), digest, salt):
        raise invalid(
            where, "its signature is wrong: it is not what a cluster with the same domain secret says of this disk"
        )
    return found


def destinations(secret: DomainSecret, count: int, shown: Any) -> Sequence[Destination]:
    """Where all disks go. @raise OpPrereqError: these are more or fewer than there are, or one is not right."""
    if not isinstance(shown, list | tuple):
        raise invalid("target_node", "a list with the destination of each disk is expected with mode remote")
    if len(shown) != count:
        raise invalid("target_node", f"destinations of {len(shown)} disks are given, and the instance has {count}")
    return [destination(secret, index, each) for index, each in enumerate(shown)]


def invalid(what: str, why: str) -> OpPrereqError:
    """What was sent cannot be used."""
    return OpPrereqError(f"{what}: {why}", ECode.INVAL)
