"""Keys on this node by which another cluster knows it while an instance moves; `ganeti-cleaner` removes those that expired."""

import datetime
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from attrs import define

from ganeti_tx.errors import X509CertError
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.transfer_keys import X509CertCreate, X509CertRead, X509CertRemove
from ganeti_tx.runtime.certificates import NOT_EARLY, SKEW, Identity, transfer_identity
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads

DIRECTORY_MODE, FILE_MODE = 0o700, 0o400
#: In the directory of a key.
KEY, CERTIFICATE = "key", "cert"
#: Bytes of a certificate.
MOST = 64 * 1024


@define
class TransferKeys:
    """Each is a directory of its own that only root sees."""

    files: IFiles
    paths: Paths
    threads: IThreads
    name: str
    now: Callable[[], float]

    def _directory(self, key: str) -> Path:
        return self.paths.crypto_keys_dir / key

    @answers(X509CertCreate)
    async def create(self, call: X509CertCreate) -> str:
        """The certificate is written last, so that one that can be read has its key."""
        directory = self._directory(call.key)
        if (found := await self.read(X509CertRead(key=call.key))) is not None:
            return found
        now = datetime.datetime.fromtimestamp(self.now(), datetime.UTC)
        validity, early = datetime.timedelta(seconds=call.validity), SKEW if call.early else NOT_EARLY
        made = await self.threads.run(transfer_identity, self.name, validity, now, early)
        if not self.files.exists(directory):
            self.files.mkdir(directory, DIRECTORY_MODE)
        await self.files.write_atomic(directory / KEY, made.key, FILE_MODE, sync=False)
        await self.files.write_atomic(directory / CERTIFICATE, made.certificate, FILE_MODE, sync=False)
        return made.certificate.decode()

    @answers(X509CertRead)
    async def read(self, call: X509CertRead) -> str | None:
        """See the call."""
        with suppress(FileNotFoundError):
            return self.files.read(self._directory(call.key) / CERTIFICATE, MOST).decode()
        return None

    def identity(self, key: str) -> Identity:
        """A key with its certificate. @raise X509CertError: there is none, or it cannot be read."""
        directory = self._directory(key)
        try:
            return Identity(
                certificate=self.files.read(directory / CERTIFICATE, MOST), key=self.files.read(directory / KEY, MOST)
            )
        except OSError as error:
            raise X509CertError(key, f"the key cannot be read: {error.strerror or error}") from None

    @answers(X509CertRemove)
    async def remove(self, call: X509CertRemove) -> None:
        """See the call."""
        directory = self._directory(call.key)
        with suppress(FileNotFoundError):
            for entry in self.files.listdir(directory):
                self.files.remove(directory / entry)
            self.files.rmdir(directory)
