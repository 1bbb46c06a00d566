"""An export that goes to another cluster, disk by disk, to where that has said that it listens."""

from collections.abc import Sequence

from attrs import define

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.backup.ends import ScriptEnd
from ganeti_tx.logic.backup.remote.keys import TransferKey
from ganeti_tx.logic.backup.remote.signed_certificate import verified
from ganeti_tx.logic.backup.remote.transfers import Sending
from ganeti_tx.logic.backup.targets import Transfers
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.model.export_file import Dump
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.backup import OpBackupExport
from ganeti_tx.model.remote_moves import Destination, DomainSecret, destinations, key_name
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.transfer import RemotePeer


@define
class RemoteTarget:
    """See `logic.backup.targets.Target`. @ivar key: the name of that on the primary node."""

    parts: Parts
    op: OpBackupExport
    now: float
    secret: DomainSecret
    certificate: str
    key: str
    _used: TransferKey | None = None
    _destinations: Sequence[Destination] = ()
    _sending: Sending | None = None

    @classmethod
    def asked(cls, parts: Parts, op: OpBackupExport, now: float, secret: DomainSecret) -> "RemoteTarget":
        """@raise OpPrereqError: something is not given, or not what this cluster and the other one have signed."""
        if op.x509_key_name is None:
            raise OpPrereqError("x509_key_name: what the preparation gave is needed with mode remote", ECode.INVAL)
        if op.destination_x509_ca is None:
            raise OpPrereqError(
                "destination_x509_ca: the certificate of the other cluster is needed with mode remote", ECode.INVAL
            )
        key = key_name(secret, list(op.x509_key_name))
        return cls(parts, op, now, secret, verified(secret, op.destination_x509_ca, "destination_x509_ca", now), key)

    @property
    def nodes(self) -> Sequence[Node]:
        """See `Target`: none."""
        return ()

    @property
    def is_final(self) -> bool:
        """See `Target`: the other cluster keeps what it has."""
        return True

    async def check(self, target: InstanceView) -> None:
        """See `Target`: the key serves once, so that whoever has seen all this can do nothing with it."""
        self._destinations = destinations(self.secret, len(target.disks), self.op.target_node)
        verified(self.secret, self.op.destination_x509_ca or "", "destination_x509_ca", self.now)
        self._used = TransferKey(self.parts, target.primary, self.key)
        await self._used.check(self.now)

    def before(self, name: str) -> Sequence[PlannedStep]:
        """See `Target`."""
        return []

    def after(self, name: str) -> Sequence[PlannedStep]:
        """See `Target`."""
        return []

    def last(self, name: str) -> Sequence[PlannedStep]:
        """See `Target`."""
        return []

    async def begin(self, name: str) -> None:
        """See `Target`: the other cluster has."""

    def transfers(self, source: ScriptEnd, dumps: Sequence[Dump]) -> Transfers:
        """See `Target`."""
        peer = RemotePeer(key=self.key, certificate=self.certificate)
        indices = [dump.index for dump in dumps]
        self._sending = Sending(
            self.parts, source.instance.name, indices, source, self.op.compress, peer, self._destinations
        )
        return self._sending

    def undos(self) -> Sequence[Undo]:
        """See `Target`."""
        return [] if self._used is None else [self._used.undo]

    async def finish(self, target: InstanceView, dumps: Sequence[Dump]) -> None:
        """See `Target`: the other cluster has all of it."""
        if self._sending is not None:
            await self._sending.forget()

    async def clear(self, name: str) -> None:
        """See `Target`."""
        if self._used is not None:
            await self._used.remove()

    def whereabouts(self) -> str:
        """See `Target`."""
        return "the other cluster has the instance whole"
