"""The cluster's keys and certificates as the master makes and replaces them."""

import datetime
from collections.abc import Callable

from attrs import define

from ganeti_tx.model.node_files import AUTHORITY, AUTHORITY_KEY, RAPI_CERTIFICATE, NodeFile
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.keys import KeysRapi
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.cluster_authority import is_issued_by, rapi_bundle, signing_authority
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

MAX_KEY_FILE = 1024 * 1024


@define
class ClusterKeys:
    """Works on the files of this node, from where the master brings them to the others. `now` is seconds since the epoch."""

    files: IFiles
    paths: Paths
    now: Callable[[], float]

    @answers(KeysRapi)
    async def rapi(self, call: KeysRapi) -> bool:
        """Replace it. @raise X509CertError, OSError: this node cannot."""
        if not self.files.exists(self.paths.rapi_pem):
            return False
        if not is_issued_by(self._read(RAPI_CERTIFICATE), self._read(AUTHORITY)):
            return False
        bundle = rapi_bundle(self._authority(), call.cluster_name, call.master_ip, self._moment())
        await self._write(RAPI_CERTIFICATE, bundle)
        return True

    def _authority(self) -> Identity:
        """The one that signs. @raise X509CertError, OSError: this node has none."""
        return signing_authority(self._read(AUTHORITY), self._read(AUTHORITY_KEY), str(self.paths.authority_key))

    def _read(self, file: NodeFile) -> bytes:
        return self.files.read(self.paths.of(file), MAX_KEY_FILE)

    async def _write(self, file: NodeFile, data: bytes) -> None:
        await self.files.write_atomic(self.paths.of(file), data, file.mode)

    def _moment(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self.now(), datetime.UTC)
