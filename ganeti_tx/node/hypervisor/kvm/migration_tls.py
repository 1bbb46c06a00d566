"""What the QEMUs of a migration know one another by: certificates that were made for it alone.

QEMU reads them itself, as the user that it has become, below the root that it has been given. So they are in a directory that
others cannot reach, for as long as QEMU reads them, and QEMU is handed that directory open.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.node.hypervisor.kvm import key_agreement
from ganeti_tx.node.hypervisor.kvm.host_devices import IHostDevices, closing, opening
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.own_directories import check_own
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient, QmpError
from ganeti_tx.runtime.files import IFiles

#: QEMU's id of them.
CREDENTIALS = "migration-tls"
#: Which side a QEMU is, in its words.
SENDS, WAITS = "client", "server"
#: Of the directory that no other user gets through, of the one in it that QEMU reads, and of what is in there.
CLOSED, THROUGH, OPEN, FILE_MODE = 0o700, 0o711, 0o755, 0o444


@frozen
class MigrationKeys:
    """Gives a QEMU its key and the other one's certificate, and takes them from it."""

    files: IFiles
    host: IHostDevices

    async def give(
        self, client: QmpClient, layout: InstanceLayout, params: KvmParams, side: str, pair: TlsPair | None
    ) -> str:
        """QEMU's id of what it knows the other by, in place of what it had; empty where it is to believe anybody.

        @param params: what it was started with. @raise HypervisorError: it cannot read them, or cannot encrypt.
        """
        await self.take(client)
        if pair is None:
            return ""
        if kept := await self.known(client):
            return kept  # copies of its disks go over connections that were made with them
        async with self._readable(client, layout, params, side, pair) as directory:
            # Each side takes one certificate only, which is no authority's: QEMU would miss the marks of one.
            asked = {"dir": directory, "endpoint": side, "verify-peer": True, "sanity-check": False}
            try:
                await client.execute("object-add", {"qom-type": "tls-creds-x509", "id": CREDENTIALS, **asked})
            except QmpError as error:
                raise HypervisorError(
                    f"QEMU cannot encrypt the migration: {error}; without, it is done where migration_tls is false"
                ) from None
        return CREDENTIALS

    async def take(self, client: QmpClient) -> None:
        """Have it forget them; where something still uses them they stay until the next migration, or its end."""
        await client.execute("migrate-set-parameters", {"tls-creds": "", "tls-hostname": ""})
        if await self.known(client):
            try:
                await client.execute("object-del", {"id": CREDENTIALS})
            except QmpError:
                pass

    async def known(self, client: QmpClient) -> str:
        """QEMU's id of what it has; empty when it has nothing."""
        objects = {str(each["name"]) for each in await client.execute("qom-list", {"path": "/objects"})}
        return CREDENTIALS if CREDENTIALS in objects else ""

    @asynccontextmanager
    async def _readable(
        self, client: QmpClient, layout: InstanceLayout, params: KvmParams, side: str, pair: TlsPair
    ) -> AsyncIterator[str]:
        """Where QEMU finds them, for so long."""
        check_own(self.files, layout.paths)
        outer = layout.chroot if params.use_chroot else layout.paths.kvm_keys_dir
        self.files.mkdir(outer, CLOSED)
        directory = outer / ("migration" if params.use_chroot else layout.name)
        if directory.name in self.files.listdir(outer):
            if params.use_chroot:
                raise HypervisorError(
                    f"{directory} is there already, and not of this program; look at it, and remove it"
                )
            self.files.remove_tree(directory)
        try:
            await self._write(directory, side, pair)
            if params.use_chroot:
                self.files.set_mode(outer, THROUGH)
                yield f"/{directory.name}"
                return
            with opening(f"directory {directory}"):
                descriptor = self.host.open_directory(directory)
            with closing(descriptor):
                added = await client.execute("add-fd", descriptor=descriptor)
            try:
                yield f"/proc/self/fd/{added['fd']}"
            finally:
                await client.execute("remove-fd", {"fdset-id": added["fdset-id"]})
        finally:
            self.files.set_mode(outer, CLOSED)
            self.files.remove_tree(directory)

    async def _write(self, directory: Path, side: str, pair: TlsPair) -> None:
        self.files.mkdir(directory, OPEN)
        contents = {"ca-cert.pem": pair.peer, f"{side}-cert.pem": pair.own.certificate, f"{side}-key.pem": pair.own.key}
        if side == WAITS:
            contents[key_agreement.FILE] = key_agreement.PARAMETERS
        for name, data in contents.items():
            await self.files.write_atomic(directory / name, data, FILE_MODE, sync=False)
