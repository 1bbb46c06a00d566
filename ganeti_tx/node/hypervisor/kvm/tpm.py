"""The program that is an instance's TPM: one process a machine, which ends when QEMU hangs up."""

from pathlib import Path

from attrs import frozen
from twisted.internet.defer import TimeoutError
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.firmware import FirmwareStore
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner

PROGRAM = "/usr/bin/swtpm"
START_LIMIT = 60.0
#: Seconds until it has ended by itself, and until one that was killed is gone.
END_LIMIT, KILL_LIMIT = 5.0, 30.0
MAX_PID_FILE = 100


def tpm_argv(layout: InstanceLayout, uuid: str) -> list[str]:
    """It goes to the background when QEMU may connect."""
    return [
        *(PROGRAM, "socket", "--tpm2", "--daemon", "--terminate"),
        *("--tpmstate", f"dir={FirmwareStore(layout.paths, uuid).tpm},mode=0600"),
        *("--ctrl", f"type=unixio,path={layout.tpm},mode=0600"),
        *("--pid", pid_option(layout)),
    ]


def pid_option(layout: InstanceLayout) -> str:
    """The argument by which the process is known as this instance's."""
    return f"file={layout.tpm_pid}"


@frozen
class SoftwareTpm:
    """Starts and ends these programs."""

    files: IFiles
    runner: IProcessRunner
    processes: IQemuProcesses
    clock: IReactorTime

    async def start(self, layout: InstanceLayout, uuid: str) -> None:
        """@raise HypervisorError: it does not start."""
        result = await self.runner.run(tpm_argv(layout, uuid), timeout=START_LIMIT)
        if not result.succeeded:
            raise HypervisorError(f"the TPM did not start: {PROGRAM} {result.describe()}")

    async def end(self, layout: InstanceLayout) -> None:
        """Leave none; it ends by itself when its QEMU has. @raise HypervisorError: it cannot be ended."""
        pid = self._pid(layout)
        if pid is None or await self._has_ended(pid, layout, END_LIMIT):
            return
        self.processes.kill(pid, _mark(layout))
        if not await self._has_ended(pid, layout, KILL_LIMIT):
            raise HypervisorError(f"instance {layout.name}: its TPM (process {pid}) cannot be killed; see dmesg")

    def _pid(self, layout: InstanceLayout) -> int | None:
        try:
            text = self.files.read(layout.tpm_pid, MAX_PID_FILE).decode("ascii", "replace").strip()
        except FileNotFoundError:
            return None
        return int(text) if text.isdigit() else None

    async def _has_ended(self, pid: int, layout: InstanceLayout, limit: float) -> bool:
        ended = self.processes.when_ended(pid, _mark(layout))
        ended.addTimeout(limit, self.clock)
        try:
            await ended
        except TimeoutError:
            return False
        return True


def _mark(layout: InstanceLayout) -> Path:
    return Path(pid_option(layout))
