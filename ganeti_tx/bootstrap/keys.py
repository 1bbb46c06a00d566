"""The secrets and certificates of a node, written with the modes of Ganeti's configuration table."""

import datetime
import secrets
from pathlib import Path

import attrs

from ganeti_tx.model.node_files import (
    AUTHORITY,
    CLIENT_CERTIFICATE,
    DOMAIN_SECRET,
    HMAC_KEY,
    SERVER_CERTIFICATE,
    SPICE_AUTHORITY,
    SPICE_CERTIFICATE,
    NodeFile,
)
from ganeti_tx.runtime.certificates import Identity, create_authority, digest, issue_client, issue_server
from ganeti_tx.runtime.daemon_user import prepare
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths


@attrs.frozen(kw_only=True)
class NodeKeys:
    """What one node needs to take part in node calls."""

    authority: bytes
    server: Identity
    client: Identity
    hmac_key: bytes = attrs.field(repr=False)
    domain_secret: bytes = attrs.field(repr=False)

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
    hmac_key = secrets.token_hex(20).encode() + b"\n"
    domain_secret = secrets.token_hex(32).encode() + b"\n"
    return authority, node_keys(authority, node_name, addresses, hmac_key, domain_secret)


def node_keys(
    authority: Identity, node_name: str, addresses: list[str], hmac_key: bytes, domain_secret: bytes
) -> NodeKeys:
    """Keys for one more node."""
    now = utc_now()
    names = [node_name, *dict.fromkeys(addresses)]
    server, client = issue_server(authority, names, now), issue_client(authority, node_name, now)
    return NodeKeys(
        authority=authority.certificate, server=server, client=client, hmac_key=hmac_key, domain_secret=domain_secret
    )


def rapi_bundle(authority: Identity, cluster_name: str, master_ip: str) -> bytes:
    """What the Remote API shows on whichever node is the master; who trusts the authority can check the cluster's name."""
    server = issue_server(authority, [cluster_name, master_ip], utc_now())
    return server.bundle + authority.certificate


def write_spice_keys(paths: Paths, cluster_name: str) -> None:
    """Write what SPICE consoles with TLS show on every node, and what their clients trust.

    The authority is nobody's afterwards: its own key is kept nowhere, and the cluster's has signed nothing here.
    """
    now = utc_now()
    authority = create_authority(f"{cluster_name} SPICE", now)
    write_file(paths, SPICE_CERTIFICATE, issue_server(authority, [cluster_name], now).bundle)
    write_file(paths, SPICE_AUTHORITY, authority.certificate)


def write_node_keys(paths: Paths, keys: NodeKeys) -> None:
    """Write a node's keys; the last file makes the node a member."""
    write_file(paths, HMAC_KEY, keys.hmac_key)
    write_file(paths, DOMAIN_SECRET, keys.domain_secret)
    write_file(paths, CLIENT_CERTIFICATE, keys.client.bundle)
    write_file(paths, AUTHORITY, keys.authority)
    write_file(paths, SERVER_CERTIFICATE, keys.server.bundle)


def write_file(paths: Paths, file: NodeFile, data: bytes) -> None:
    """Replace a file of the cluster, with its mode. @raise OSError: as IFiles.write_atomic."""
    write_private(paths.of(file), data, file.mode)


def write_private(path: Path, data: bytes, mode: int) -> None:
    """Replace a file whole; it never has more rights than `mode`. @raise OSError: as IFiles.write_atomic."""
    replace_file(path, data, mode)


def prepare_directories(paths: Paths) -> None:
    """Make a node's directories with their modes; their owners too when we may. @raise OSError."""
    prepare(paths)
