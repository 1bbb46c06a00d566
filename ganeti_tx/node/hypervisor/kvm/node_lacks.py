"""What parameters ask of this node beside programs and files: users, processors, KVM. Only what is known for sure counts."""

from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from ganeti_tx.model.hypervisors.kvm import KvmParams, find_program
from ganeti_tx.node.hypervisor.kvm.acceleration import KVM_DEVICE, Acceleration, AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.command.machine import NEEDS_KVM, needs_kvm
from ganeti_tx.node.hypervisor.kvm.parameters import DIRECTORIES, FILES
from ganeti_tx.node.hypervisor.kvm.tpm_user import TpmUser
from ganeti_tx.node.hypervisor.kvm.uid_pool import NO_POOL, UidPool
from ganeti_tx.node.hypervisor.processors import missing_processors
from ganeti_tx.runtime.files import IFiles


@frozen
class NodeLacks:
    """Tells what is not here."""

    files: IFiles
    probe: AccelerationProbe
    account: Callable[[str], TpmUser | None]
    uids: UidPool

    async def faults(self, params: KvmParams) -> list[str]:
        """Everything that is wrong, a line each; of parameters that make sense."""
        faults = [*self._files(params), *self._user(params), *missing_processors(self.files, params.cpu_mask)]
        if params.kvm_flag == "enabled" and not self.files.exists(KVM_DEVICE):
            return [*faults, f"kvm_flag: enabled, but this node has no {KVM_DEVICE}"]
        program = find_program(params.kvm_path, self.files.exists) if needs_kvm(params) else None
        if program is not None and await self.probe.choose(program, params.kvm_flag) is not Acceleration.KVM:
            faults.append(NEEDS_KVM)
        return faults

    def _files(self, params: KvmParams) -> list[str]:
        """A directory is none; one that is not there is told elsewhere."""
        named = [(name, str(getattr(params, name))) for name in FILES if name not in DIRECTORIES]
        return [f"{name}: {value} is a directory, not a file" for name, value in named if self._is_directory(value)]

    def _is_directory(self, path: str) -> bool:
        try:
            return path.startswith("/") and self.files.stat(Path(path)).is_directory
        except (OSError, ValueError):
            return False

    def _user(self, params: KvmParams) -> list[str]:
        """A name, or numbers, of which QEMU needs no account, or one of the cluster's pool."""
        if params.security_model == "pool" and self.uids.is_empty:
            return [NO_POOL]
        user = params.security_domain if params.security_model == "user" else ""
        if not user or ":" in user or self.account(user) is not None:
            return []
        return [f"security_domain: there is no user {user!r} on this node"]
