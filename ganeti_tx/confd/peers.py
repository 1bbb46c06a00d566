"""Whom to ask, and with which key, as the files of a node say."""

import os
from pathlib import Path

from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.messages import PORT
from ganeti_tx.confd.poll import Peer
from ganeti_tx.errors import ConfdClientError, ConfigurationError
from ganeti_tx.model.ip_family import canonical
from ganeti_tx.runtime.paths import Paths

MAX_FILE = 1024 * 1024


def peer(address: str, port: int = PORT) -> Peer:
    """A server by its IP address. @raise ConfdClientError: it is none."""
    try:
        return Peer(canonical(address), port)
    except ValueError:
        raise ConfdClientError(f"not an IP address: {address!r}") from None


def candidates(paths: Paths, port: int = PORT) -> list[Peer]:
    """The master candidates that this node knows of. Blocks.

    @raise ConfigurationError: it knows none. @raise ConfdClientError: its file holds what is no address.
    """
    path = paths.ssconf_file("master_candidates_ips")
    found = list(dict.fromkeys(peer(line, port) for line in read(path).decode("utf-8", "replace").split()))
    if not found:
        raise ConfigurationError(f"{path} lists no master candidates")
    return found


def read_key(path: Path) -> Key:
    """The cluster's key. Blocks. @raise ConfigurationError: there is none."""
    try:
        return Key(read(path))
    except ConfigurationError as error:
        raise ConfigurationError(f"no key to ask with: {error}") from None


def read(path: Path) -> bytes:
    """A small file. @raise ConfigurationError: it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE)
    except FileNotFoundError:
        raise ConfigurationError(f"this node is not part of a cluster: no {path}") from None
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {os.strerror(error.errno or 0)}") from None
