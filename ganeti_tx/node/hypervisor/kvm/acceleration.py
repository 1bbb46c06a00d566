"""Whether KVM works here, found out by really running a guest under it: /dev/kvm may be there and every guest hang."""

from enum import StrEnum
from pathlib import Path

import msgspec
from attrs import define, field
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.boot_id import BOOT_ID
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

PROBE_TIMEOUT = 5.0
#: Bytes of what is remembered of all programs.
MAX_ANSWERS = 1 << 16
KVM_DEVICE = Path("/dev/kvm")

#: A boot sector that goes to 64-bit mode and does there what kernels do and a KVM that only emulates does not know.
_PROBE_CODE = bytes.fromhex(
    "fafc 31c0 8ed8 8ec0"  # cli; cld; xor ax,ax; mov ds,ax; mov es,ax
    "bf0010 b90018 f3ab"  # mov di,0x1000; mov cx,0x1800; rep stosw: three empty page tables
    "c70600100320 c70600200330 c70600308300"  # which map the first 2 MiB as they are
    "66b800100000 0f22d8"  # mov eax,0x1000; mov cr3,eax
    "66b8a0000000 0f22e0"  # mov eax,0xa0; mov cr4,eax: PAE
    "66b9800000c0 0f32 80cc01 0f30"  # mov ecx,0xc0000080; rdmsr; or ah,1; wrmsr: EFER.LME
    "0f01167b7c"  # lgdt [0x7c7b]
    "0f20c0 660d01000080 0f22c0"  # mov eax,cr0; or eax,0x80000001; mov cr0,eax: paging and protection
    "ea577c0800"  # jmp 8:0x7c57
    "bf00400000 f0480fc70f"  # mov edi,0x4000; lock cmpxchg16b [rdi]
    "66baf400 b02a ee"  # mov dx,0xf4; mov al,0x2a; out dx,al: isa-debug-exit ends QEMU
    "f4 ebfd"  # hlt, again and again
    "0000000000000000 00000000009a2000"  # at 0x7c6b: the empty segment, and the one for 64-bit code
    "0f006b7c0000"  # at 0x7c7b: where those two are
)
PROBE_GUEST = _PROBE_CODE.ljust(510, b"\0") + b"\x55\xaa"
#: isa-debug-exit turns the value v into the exit status 2v+1: only a guest that ran can bring it about.
PROBE_STATUS = 0x2A * 2 + 1

log = Logger()


class Acceleration(StrEnum):
    """How QEMU runs the guest's instructions: QEMU's own names."""

    KVM = "kvm"
    TCG = "tcg"


class _Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What a probe found of each program; holds until the node boots again."""

    boot_id: str
    programs: dict[str, Acceleration]


def probe_argv(kvm_path: str, acceleration: Acceleration, image: Path) -> list[str]:
    """QEMU with the probe guest."""
    escaped = str(image).replace(",", ",,")
    return [
        *(kvm_path, "-accel", acceleration.value, "-machine", "pc", "-m", "16", "-nodefaults", "-no-user-config"),
        *("-display", "none", "-no-reboot", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"),
        *("-drive", f"if=floppy,format=raw,readonly=on,file={escaped}"),
    ]


@define
class AccelerationProbe:
    """Answers from memory, else from the run directory, else by running the probe guest once."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner
    _known: dict[str, Acceleration] = field(factory=dict, init=False)
    _lock: DeferredLock = field(factory=DeferredLock, init=False)

    async def choose(self, kvm_path: str, kvm_flag: str = "") -> Acceleration:
        """What instances of this QEMU run under: the parameter `kvm_flag` decides, else the probe."""
        if kvm_flag == "enabled":
            return Acceleration.KVM
        if kvm_flag == "disabled" or not self.files.exists(KVM_DEVICE):
            return Acceleration.TCG
        async with self._lock:
            if kvm_path not in self._known:
                self._known[kvm_path] = self._remembered().get(kvm_path) or await self._probe_and_remember(kvm_path)
            return self._known[kvm_path]

    async def works(self, kvm_path: str, acceleration: Acceleration) -> bool:
        """Run the probe guest."""
        image = self.paths.kvm_dir / "probe-guest"
        self.files.mkdir(image.parent)
        await self.files.write_atomic(image, PROBE_GUEST, sync=False)
        result = await self.runner.run(probe_argv(kvm_path, acceleration, image), timeout=PROBE_TIMEOUT)
        if result.status != PROBE_STATUS or result.timed_out:
            log.info("probe guest under {accel}: {end}", accel=acceleration.value, end=result.describe())
            return False
        return True

    async def _probe_and_remember(self, kvm_path: str) -> Acceleration:
        works = await self.works(kvm_path, Acceleration.KVM)
        found = Acceleration.KVM if works else Acceleration.TCG
        log.info("instances run under {accel}: the probe guest decided", accel=found.value)
        answers = _Answers(boot_id=self._boot_id(), programs={**self._remembered(), kvm_path: found})
        await self.files.write_atomic(self._file, msgspec.json.encode(answers), sync=False)
        return found

    def _remembered(self) -> dict[str, Acceleration]:
        try:
            answers = msgspec.json.decode(self.files.read(self._file, MAX_ANSWERS), type=_Answers)
        except (OSError, msgspec.DecodeError):
            return {}
        return answers.programs if answers.boot_id == self._boot_id() else {}

    def _boot_id(self) -> str:
        try:
            return self.files.read(BOOT_ID, 100).decode("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise HypervisorError(f"cannot tell this boot of the node from the last one: {error}")

    @property
    def _file(self) -> Path:
        return self.paths.kvm_dir / "acceleration"
