"""The secrets and certificates of a node, written with the modes of Ganeti's configuration table."""

import datetime
import secrets
from collections.abc import Mapping
from pathlib import Path

import attrs

from ganeti_tx.model.node_files import (
    AUTHORITY,
    CLIENT_CERTIFICATE,
    DOMAIN_SECRET,
    FILES,
    HMAC_KEY,
    SERVER_CERTIFICATE,
    SPICE_AUTHORITY,
    SPICE_CERTIFICATE,
    NodeFile,
    Sending,
)
from ganeti_tx.runtime.certificates import Identity, create_authority, digest, issue_server
from ganeti_tx.runtime.cluster_authority import node_identities
from ganeti_tx.runtime.daemon_user import prepare
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths

#: The keys that a node gets when it joins, in the order in which they are written.
AT_JOIN = [file for file in FILES if file.at_join and not file.is_family]

#: Those of them that all nodes have alike, besides the authority, of which a node that joins is told by itself.
SHARED_AT_JOIN = [file for file in AT_JOIN if file.sent is Sending.WITH_KEYS and file is not AUTHORITY]

#: How long the secrets are that are nothing but chance.
SECRET_BYTES: Mapping[NodeFile, int] = {HMAC_KEY: 20, DOMAIN_SECRET: 32}


@attrs.frozen(kw_only=True)
class NodeKeys:
    """What one node needs to take part in node calls; `shared` is what all nodes have alike, by the files' paths."""

    authority: bytes
    server: Identity
    client: Identity
    shared: Mapping[str, bytes] = attrs.field(repr=False)

    @property
    def client_digest(self) -> str:
        """By which the other nodes know this one."""
        return digest(self.client.certificate)

    @property
    def server_digest(self) -> str:
        """By which it is known when it is called."""
        return digest(self.server.certificate)


def utc_now() -> datetime.datetime:
    """Now, as certificates write it."""
    return datetime.datetime.now(datetime.UTC)


def new_cluster_keys(cluster_name: str, node_name: str, addresses: list[str]) -> tuple[Identity, NodeKeys]:
    """A new authority, and the first node's keys."""
    authority = create_authority(cluster_name, utc_now())
    shared = {file.path: new_secret(file) for file in SECRET_BYTES}
    return authority, node_keys(authority, node_name, addresses, shared)


def new_secret(file: NodeFile) -> bytes:
    """The text of one of the secrets."""
    return secrets.token_hex(SECRET_BYTES[file]).encode() + b"\n"


def shared_keys(paths: Paths) -> dict[str, bytes]:
    """What a node that joins has as this one has it. @raise OSError: one cannot be read."""
    return {file.path: paths.of(file).read_bytes() for file in SHARED_AT_JOIN}


def node_keys(authority: Identity, node_name: str, addresses: list[str], shared: Mapping[str, bytes]) -> NodeKeys:
    """Keys for one more node."""
    server, client = node_identities(authority, node_name, addresses, utc_now())
    return NodeKeys(authority=authority.certificate, server=server, client=client, shared=shared)


def write_spice_keys(paths: Paths, cluster_name: str) -> None:
    """Write what SPICE consoles with TLS show on every node, and what their clients trust."""
    for file, data in spice_keys(cluster_name).items():
        write_file(paths, file, data)


def spice_keys(cluster_name: str) -> Mapping[NodeFile, bytes]:
    """The files of SPICE consoles with TLS.

    The authority is nobody's afterwards: its own key is kept nowhere, and the cluster's has signed nothing here.
    """
    now = utc_now()
    authority = create_authority(f"{cluster_name} SPICE", now)
    server = issue_server(authority, [cluster_name], now)
    return {SPICE_CERTIFICATE: server.bundle, SPICE_AUTHORITY: authority.certificate}


def write_node_keys(paths: Paths, keys: NodeKeys) -> None:
    """Write a node's keys; the last file makes the node a member."""
    own = {
        CLIENT_CERTIFICATE.path: keys.client.bundle,
        AUTHORITY.path: keys.authority,
        SERVER_CERTIFICATE.path: keys.server.bundle,
    }
    for file in AT_JOIN:
        write_file(paths, file, {**keys.shared, **own}[file.path])


def write_file(paths: Paths, file: NodeFile, data: bytes) -> None:
    """Replace a file of the cluster, with its mode. @raise OSError: as IFiles.write_atomic."""
    write_private(paths.of(file), data, file.mode)


def write_private(path: Path, data: bytes, mode: int) -> None:
    """Replace a file whole; it never has more rights than `mode`. @raise OSError: as IFiles.write_atomic."""
    replace_file(path, data, mode)


def prepare_directories(paths: Paths) -> None:
    """Make a node's directories with their modes; their owners too when we may. @raise OSError."""
    prepare(paths)
