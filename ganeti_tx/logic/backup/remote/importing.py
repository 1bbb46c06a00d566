"""A new instance whose data come from another cluster."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.logic.backup.ends import ScriptEnd
from ganeti_tx.logic.backup.importing import renamed
from ganeti_tx.logic.backup.remote.keys import TransferKey
from ganeti_tx.logic.backup.remote.signed_certificate import signed, verified
from ganeti_tx.logic.backup.remote.transfers import Receiving
from ganeti_tx.logic.disks.ends import RECEIVING
from ganeti_tx.logic.disks.on_nodes import assemble_elsewhere, disk_nodes, shutdown_disks
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.remote_moves import REMOTE_IMPORT, Destination, DomainSecret, check_handshake
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.transfer import RemotePeer

RECEIVE = "receive its disks from another cluster"


@frozen
class RemoteImport:
    """See `logic.backup.importing.Filling`. @ivar certificate: of the other side."""

    unit: LogicalUnit[OpInstanceCreate]
    secret: DomainSecret
    certificate: str
    former: str

    @classmethod
    def asked(cls, unit: LogicalUnit[OpInstanceCreate]) -> "RemoteImport":
        """@raise OpPrereqError: what the other cluster shows is not of one that shares the domain secret, or not whole."""
        op, secret = unit.op, unit.context.domain_secret()
        check_handshake(secret, op.source_handshake)
        if op.source_x509_ca is None:
            raise missing("source_x509_ca", "the certificate of the other cluster")
        certificate = verified(secret, op.source_x509_ca, "source_x509_ca", unit.context.now())
        if op.source_instance_name is None:
            raise missing("source_instance_name", "the name of the instance in the other cluster")
        return cls(unit, secret, certificate, op.source_instance_name)

    @property
    def scripts(self) -> Sequence[str]:
        """See `Filling`."""
        return ("import",) if self.unit.op.disks else ()

    def locks(self, name: str) -> Sequence[LockRequest]:
        """See `Filling`: nothing of this cluster is read."""
        return ()

    async def read_again(self) -> None:
        """See `Filling`: while the locks were waited for the certificate may have expired."""
        verified(self.secret, self.unit.op.source_x509_ca or "", "source_x509_ca", self.unit.context.now())

    def hook_values(self) -> Mapping[str, object]:
        """See `Filling`."""
        return {}

    def steps(self, target: InstanceView) -> Sequence[PlannedStep]:
        """See `Filling`."""
        nodes = tuple(dict.fromkeys((*disk_nodes(target), target.primary.name)))
        return [PlannedStep(RECEIVE, nodes, (f"instance {target.instance.name}",))]

    async def run(self, target: InstanceView, spec: InstanceSpec, shutdowns: Sequence[Undo], *, stay: bool) -> None:
        """See `Filling`. Once all is here the new instance stays, for the other side removes its own from then on."""
        unit, name = self.unit, target.instance.name
        key = await TransferKey.new(unit, target.primary, unit.context.now())
        salt = (await unit.config.generate_secret())[:16]
        end = ScriptEnd(RECEIVING, target.primary, spec, unit.op.debug_level or 0)
        peer = RemotePeer(key=key.name, certificate=self.certificate)
        receiving = Receiving(
            unit, name, range(len(target.disks)), end, unit.op.compress, peer, unit.op.source_shutdown_timeout
        )
        async with unit.step(RECEIVE, *shutdowns, key.undo, *await receiving.prepare()):
            certificate = await key.create()
            await assemble_elsewhere(unit.nodes, target, unit.warn)
            self._tell(await receiving.listen(), signed(self.secret, certificate, salt), salt)
            await receiving.until_filled()
            await unit.context.steps.settle(*shutdowns, key.undo, *receiving.stops())
            await receiving.release()
            await key.remove()
            if name != self.former:
                await renamed(unit, target, spec, self.former, unit.op.debug_level or 0)
            if not stay:
                await shutdown_disks(unit.nodes, target, unit.warn)

    def _tell(self, found: Sequence[Destination], certificate: str, salt: str) -> None:
        """Whoever moves the instance reads it in the job's log, and takes it to the other side."""
        disks = [each.signed(self.secret, index, salt) for index, each in enumerate(found)]
        tell: Callable[[str, Any], None] = self.unit.context.feedback
        tell(REMOTE_IMPORT, {"disks": disks, "x509_ca": certificate})


def missing(parameter: str, what: str) -> OpPrereqError:
    """Something is not given."""
    return OpPrereqError(f"{parameter}: {what} is needed with mode remote-import", ECode.INVAL)
