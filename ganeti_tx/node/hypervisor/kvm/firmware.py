"""What of a machine outlives its runs beside its disks: the variables of its UEFI firmware, and the state of its TPM.

They stay on the node on which it runs. A live migration takes them along, and a move of one that is stopped carries them as files.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.own_directories import check_own
from ganeti_tx.node.hypervisor.kvm.tpm_user import TpmUser
from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: Where Debian's package ovmf has the firmware, and what it is called there; that for secure boot knows Microsoft's keys.
IMAGES = Path("/usr/share/OVMF")
PLAIN, SECURE = ("OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd"), ("OVMF_CODE_4M.secboot.fd", "OVMF_VARS_4M.ms.fd")
MAX_VARIABLES = 4 << 20
#: Of one instance.
MAX_FILES, MAX_KEPT = 16, 8 << 20
KEPT = re.compile(r"variables\.fd|tpm/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}")
#: How a directory ends that is not whole yet.
UNFINISHED = ".new"
DIRECTORY_MODE, MODE = 0o700, 0o600


@frozen
class FirmwareStore:
    """The directory of one instance, by its uuid: so it may be renamed."""

    paths: Paths
    uuid: str

    @property
    def directory(self) -> Path:
        """All of it."""
        return self.paths.kvm_firmware_dir / checked_name(self.uuid)

    @property
    def variables(self) -> Path:
        """The flash memory that the firmware writes to."""
        return self.directory / "variables.fd"

    @property
    def tpm(self) -> Path:
        """The directory of the TPM."""
        return self.directory / "tpm"

    def used(self, params: KvmParams) -> list[Path]:
        """What a machine with these parameters writes to."""
        return [*([self.variables] if params.uefi else ()), *([self.tpm] if params.tpm else ())]


def images(params: KvmParams) -> tuple[Path, Path]:
    """The firmware, and the variables that a new machine begins with."""
    code, variables = SECURE if params.secure_boot else PLAIN
    return IMAGES / code, IMAGES / variables


def check_kept(kept: Mapping[str, bytes]) -> None:
    """@raise HypervisorError: among them is one of another name, or they are too many, or too large."""
    wrong = [name for name in kept if not KEPT.fullmatch(name)]
    if wrong or len(kept) > MAX_FILES or sum(map(len, kept.values())) > MAX_KEPT:
        what = f"{wrong[0]!r:.80}" if wrong else f"{len(kept)} files of {sum(map(len, kept.values()))} bytes"
        raise HypervisorError(f"nothing that firmware or TPM of an instance keep: {what}")


@frozen
class Firmware:
    """Makes and removes what instances keep."""

    paths: Paths
    files: IFiles

    async def prepare(self, plan: QemuPlan, user: TpmUser) -> None:
        """New variables for an instance that has none here, and a place for its TPM, which a user can reach who is given it."""
        store = FirmwareStore(self.paths, plan.spec.uuid)
        self._remove(self._new(plan.spec.uuid).directory)  # a power cut has left it
        if plan.params.uefi or plan.params.tpm:
            self.files.mkdir(self.paths.kvm_firmware_dir, DIRECTORY_MODE)
            self.files.mkdir(store.directory, DIRECTORY_MODE)
        if plan.params.tpm:
            self.files.mkdir(store.tpm, DIRECTORY_MODE)
            await self._give_tpm(plan.spec.uuid, store.tpm, user)
        if plan.params.uefi and not self.files.exists(store.variables):
            new = self.files.read(images(plan.params)[1], MAX_VARIABLES)
            await self.files.write_atomic(store.variables, new, MODE)

    async def _give_tpm(self, uuid: str, state: Path, user: TpmUser) -> None:
        """Nothing is given away that a former user has put there: it is made anew before."""
        if self.files.stat(state).uid == user.uid:
            return
        await self.keep(uuid, self.kept(uuid))
        for path in (*(state / name for name in self.files.listdir(state)), state):
            self.files.set_owner(path, user.uid, user.gid)

    def owners(self) -> list[str]:
        """The uuids of the instances of which something is here, be it whole or not."""
        root = self.paths.kvm_firmware_dir
        names = self.files.listdir(root) if self.files.exists(root) else []
        return sorted({name.removesuffix(UNFINISHED) for name in names})

    def kept(self, uuid: str, user: KvmParams | None = None) -> dict[str, bytes]:
        """What is here of it, by the names of files.

        @param user: of a machine that runs: what it uses, which changes meanwhile, is left out.
        @raise HypervisorError: one cannot be read, or is none that is kept.
        """
        store = FirmwareStore(self.paths, uuid)
        found: dict[str, bytes] = {}
        with self._reading(store):
            for path in self._files_of(store, user):
                found[str(path.relative_to(store.directory))] = self.files.read(path, MAX_VARIABLES, links=False)
        check_kept(found)
        return found

    def names(self, uuid: str) -> list[str]:
        """Of all that `kept` would have, if the machine did not run. @raise HypervisorError: see there."""
        store = FirmwareStore(self.paths, uuid)
        with self._reading(store):
            return sorted(str(path.relative_to(store.directory)) for path in self._files_of(store, None))

    @contextmanager
    def _reading(self, store: FirmwareStore) -> Iterator[None]:
        check_own(self.files, self.paths)
        try:
            yield
        except OSError as error:
            raise HypervisorError(
                f"cannot read what is kept below {store.directory}: {error.strerror or error}"
            ) from None

    def _files_of(self, store: FirmwareStore, user: KvmParams | None) -> list[Path]:
        """@raise HypervisorError: they are too many, which is seen before one is read: the TPM's program makes what it wants."""
        places = [place for place in (store.directory, store.tpm) if self.files.exists(place)]
        found = [place / name for place in places for name in self.files.listdir(place)]
        used = store.used(user) if user is not None else ()
        kept = [
            path
            for path in found
            if KEPT.fullmatch(str(path.relative_to(store.directory))) and not {path, path.parent} & {*used}
        ]
        if len(kept) > MAX_FILES:
            raise HypervisorError(f"{len(kept)} files below {store.directory}, at most {MAX_FILES} are kept")
        return kept

    async def keep(self, uuid: str, kept: Mapping[str, bytes]) -> None:
        """Have these instead of what is here, all or none. @raise HypervisorError: they are nothing that is kept."""
        check_own(self.files, self.paths)
        check_kept(kept)
        store, new = FirmwareStore(self.paths, uuid), self._new(uuid)
        root = self.paths.kvm_firmware_dir
        self._remove(new.directory)
        for directory in (root, new.directory, new.tpm):
            self.files.mkdir(directory, DIRECTORY_MODE)
        for name, data in kept.items():
            await self.files.write_atomic(new.directory / name, data, MODE)
        await self.files.make_sure([new.directory, root, root.parent])
        self._remove(store.directory)
        self.files.rename(new.directory, store.directory)
        await self.files.make_sure([root])  # before its old node may forget it

    async def forget(self, uuid: str) -> None:
        """Leave nothing of it, nor of what was not kept in the end; no power cut brings it back."""
        found = [self._remove(store.directory) for store in (FirmwareStore(self.paths, uuid), self._new(uuid))]
        if any(found):
            await self.files.make_sure([self.paths.kvm_firmware_dir])

    def _new(self, uuid: str) -> FirmwareStore:
        """Where it is until it is whole."""
        return FirmwareStore(self.paths, f"{uuid}{UNFINISHED}")

    def _remove(self, directory: Path) -> bool:
        """Whether there was something."""
        found = self.files.exists(directory)
        if found:
            self.files.remove_tree(directory)
        return found
