"""The cluster's keys and certificates as the master makes and replaces them, and as each node takes its own."""

import datetime
import secrets
from collections.abc import Callable

from attrs import define

from ganeti_tx.errors import X509CertError
from ganeti_tx.model import confd_keys
from ganeti_tx.model.node_files import (
    AUTHORITY,
    AUTHORITY_KEY,
    CLIENT_CERTIFICATE,
    CONFD_KEYS,
    HMAC_KEY,
    NEXT_AUTHORITY,
    RAPI_CERTIFICATE,
    SERVER_CERTIFICATE,
    NodeFile,
)
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.keys import IssuedKeys, KeysForget, KeysIssue, KeysRapi, KeysTrust, KeysUse, NodeTakeKeys
from ganeti_tx.runtime.certificates import Identity, create_authority, digest
from ganeti_tx.runtime.cluster_authority import (
    have_in_common,
    is_issued_by,
    node_identities,
    rapi_bundle,
    signing_authority,
    together,
)
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

MAX_KEY_FILE = 1024 * 1024
CONFD_KEY_BYTES = 20


@define
class ClusterKeys:
    """Works on the files of this node, from where the master brings them to the others. `now` is seconds since the epoch.

    Each call may be made again, whatever of it was done before. @raise X509CertError, OSError: this node cannot.
    """

    files: IFiles
    paths: Paths
    now: Callable[[], float]

    @answers(KeysRapi)
    async def rapi(self, call: KeysRapi) -> bool:
        """Replace it."""
        if not self.files.exists(self.paths.rapi_pem):
            return False
        if not is_issued_by(self._read(RAPI_CERTIFICATE), self._read(AUTHORITY)):
            return False
        bundle = rapi_bundle(self._authority(), call.cluster_name, call.master_ip, self._moment())
        await self._write(RAPI_CERTIFICATE, bundle)
        return True

    # What all nodes have alike: first it is trusted, then it is used, then the former is forgotten

    @answers(KeysTrust)
    async def trust(self, call: KeysTrust) -> None:
        """What was made by a renewal that did not end is taken up again."""
        if call.authority:
            if not self._is_coming():
                await self._write(NEXT_AUTHORITY, create_authority(call.cluster_name, self._moment()).bundle)
            await self._write(AUTHORITY, together([self._read(AUTHORITY), self._next_authority().certificate]))
        if call.confd:
            former, following = self._confd_keys()
            if following is None:
                following = secrets.token_hex(CONFD_KEY_BYTES).encode() + b"\n"
            await self._write(CONFD_KEYS, confd_keys.encode([former, following]))

    @answers(KeysUse)
    async def use(self, call: KeysUse) -> None:
        """Nothing happens where nothing was made."""
        if call.authority and self._has(NEXT_AUTHORITY):
            await self._write(AUTHORITY_KEY, self._next_authority().key)
        _, following = self._confd_keys()
        if call.confd and following is not None:
            await self._write(HMAC_KEY, following)

    @answers(KeysForget)
    async def forget(self, call: KeysForget) -> None:
        """The one that signs is the one that stays."""
        if call.authority:
            await self._write(AUTHORITY, self._authority().certificate)
            if self._has(NEXT_AUTHORITY):
                self.files.remove(self.paths.of(NEXT_AUTHORITY))
        if call.confd:
            await self._write(CONFD_KEYS, confd_keys.encode([self._read(HMAC_KEY)]))

    def _is_coming(self) -> bool:
        """Whether there is an authority of a renewal that has not ended: one that other nodes trust as well. It may be left of
        one that another master has ended since; who has seen this node's disk then would have its key.
        """
        if not self._has(NEXT_AUTHORITY):
            return False
        return have_in_common(self._next_authority().certificate, self._read(AUTHORITY))

    def _confd_keys(self) -> tuple[bytes, bytes | None]:
        """The former key, and the one that is to take its place or has taken it; None when no renewal has begun."""
        present = self._read(HMAC_KEY)
        try:
            listed = confd_keys.decode(self._read(CONFD_KEYS)) if self._has(CONFD_KEYS) else ()
        except ValueError:  # nobody has accepted anything of it
            listed = ()
        if len(listed) > 1 and present in listed:
            return listed[0], listed[-1]
        return present, None

    # What each node has for itself

    @answers(KeysIssue)
    async def issue(self, call: KeysIssue) -> IssuedKeys:
        """Nothing is kept of them here; what the node joined with counts no longer than the cluster says."""
        for address in call.addresses:
            if self.files.exists(joined := self.paths.joining_file(address)):
                self.files.remove(joined)
        server, client = node_identities(self._authority(), call.node_name, call.addresses, self._moment())
        return IssuedKeys(
            client=client.bundle,
            server=server.bundle,
            client_digest=digest(client.certificate),
            server_digest=digest(server.certificate),
        )

    @answers(NodeTakeKeys)
    async def take(self, call: NodeTakeKeys) -> None:
        """Both or none. @raise X509CertError: they are none, or of an authority that is not trusted here."""
        given = {CLIENT_CERTIFICATE: call.client, SERVER_CERTIFICATE: call.server}
        trusted = self._read(AUTHORITY)
        for file, data in given.items():
            identity = Identity.from_bundle(data, file.path)
            if not is_issued_by(identity.certificate, trusted):
                raise X509CertError(file.path, "is of no authority that this node trusts")
        whole = {self.paths.of(file): data for file, data in given.items()}
        await self.files.write_many(whole, SERVER_CERTIFICATE.mode)

    def _authority(self) -> Identity:
        """The one that signs."""
        return signing_authority(self._read(AUTHORITY), self._read(AUTHORITY_KEY), str(self.paths.authority_key))

    def _next_authority(self) -> Identity:
        return Identity.from_bundle(self._read(NEXT_AUTHORITY), str(self.paths.of(NEXT_AUTHORITY)))

    def _has(self, file: NodeFile) -> bool:
        return self.files.exists(self.paths.of(file))

    def _read(self, file: NodeFile) -> bytes:
        return self.files.read(self.paths.of(file), MAX_KEY_FILE)

    async def _write(self, file: NodeFile, data: bytes) -> None:
        await self.files.write_atomic(self.paths.of(file), data, file.mode)

    def _moment(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self.now(), datetime.UTC)
