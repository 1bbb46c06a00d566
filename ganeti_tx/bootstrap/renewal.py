"""Replacing files of the master that all nodes have alike, and that nobody needs in order to talk to a node."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ganeti_tx.bootstrap.keys import new_secret, spice_keys, utc_now, write_file
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.errors import GanetiError, X509CertError
from ganeti_tx.model.node_files import (
    DOMAIN_SECRET,
    RAPI_CERTIFICATE,
    SPICE_AUTHORITY,
    SPICE_CERTIFICATE,
    NodeFile,
)
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.cluster_authority import certificates_in, is_issued_by, rapi_bundle, signing_authority
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads

MAX_FILE = 64 * 1024


class Renewal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be replaced: by what a file has, its path; empty: by one that is made; None: it stays."""

    rapi: str | None = None
    spice: str | None = None
    spice_authority: str | None = None
    domain_secret: str | None = None


def renew_files(paths: Paths, data: bytes) -> None:
    """Check everything, then write. @raise BootstrapError: what is wrong; nothing was changed. @raise OSError: of a write."""
    try:
        renewal = msgspec.json.decode(data, type=Renewal)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise BootstrapError(f"cannot read what is to be replaced: {error}") from None
    files = RealFiles(InlineThreads())
    if not paths.authority_key.exists():
        raise BootstrapError(f"this node is not the master of a cluster (no {paths.authority_key})")
    ssconf = SsconfReader(files, paths)
    try:
        if (master := ssconf.master_node()) != own_name():
            raise BootstrapError(f"this node is not the master of the cluster, {master} is")
        replaced = dict(new_files(paths, renewal, ssconf.cluster_name(), ssconf.value("master_ip")))
    except GanetiError as error:
        raise BootstrapError(str(error)) from None
    for file, content in replaced.items():
        write_file(paths, file, content)
        print(f"{paths.of(file)} was replaced", flush=True)


def new_files(paths: Paths, renewal: Renewal, name: str, address: str) -> Iterator[tuple[NodeFile, bytes]]:
    """What the files are to hold. @raise GanetiError: what was given is not that."""
    if renewal.rapi is not None:
        if renewal.rapi:
            data = given(renewal.rapi)
            Identity.from_bundle(data, renewal.rapi)
        else:
            key = paths.authority_key
            authority = signing_authority(paths.authority_pem.read_bytes(), key.read_bytes(), str(key))
            data = rapi_bundle(authority, name, address, utc_now())
        yield RAPI_CERTIFICATE, data
    if renewal.spice:
        yield from given_spice(renewal.spice, renewal.spice_authority or "")
    elif renewal.spice is not None:
        yield from spice_keys(name).items()
    if renewal.domain_secret is not None:
        secret = given(renewal.domain_secret) if renewal.domain_secret else new_secret(DOMAIN_SECRET)
        if not secret.strip():
            raise BootstrapError(f"{renewal.domain_secret} is empty")
        yield DOMAIN_SECRET, secret


def given_spice(certificate: str, authority: str) -> Iterator[tuple[NodeFile, bytes]]:
    """The files for SPICE. @raise GanetiError: they are not, or the one was not signed by the other."""
    own, signer = given(certificate), given(authority)
    Identity.from_bundle(own, certificate)
    certificates_in(signer, authority)
    if not is_issued_by(own, signer):
        raise X509CertError(certificate, f"was not signed by {authority}")
    yield SPICE_CERTIFICATE, own
    yield SPICE_AUTHORITY, signer


def given(path: str) -> bytes:
    """A file of the administrator's. @raise BootstrapError: it cannot be read, or is too large."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise BootstrapError(f"cannot read {path}: {error.strerror}") from None
    if len(data) > MAX_FILE:
        raise BootstrapError(f"{path} has more than {MAX_FILE} bytes")
    return data
