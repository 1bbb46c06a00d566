"""The program that is an instance's TPM: one process a machine, which ends when QEMU hangs up.

What it needs is opened here and handed to it: the socket at which QEMU finds it, and the directory with its state. So it needs no
way to either, and finds no other instance's. It becomes its user itself, as then others of that user cannot reach into it, either.
The socket is all it has to speak with: it has no network.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.firmware import FirmwareStore
from ganeti_tx.node.hypervisor.kvm.host_devices import IHostDevices, closing, opening
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.pid_file import pid_in
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.tpm_user import TpmUser
from ganeti_tx.node.hypervisor.scopes import Scopes
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner

PROGRAM = "/usr/bin/swtpm"
START_LIMIT = 60.0
#: A process, and the argument by which it is known.
Marked = tuple[int, Path]
#: Seconds until it has ended by itself, and until one that was killed is gone.
END_LIMIT, KILL_LIMIT = 5.0, 30.0
#: Its descriptors.
LISTENER, STATE = 3, 4
SOCKET_MODE = 0o600


def tpm_argv(layout: InstanceLayout, user: TpmUser) -> list[str]:
    """It goes to the background when it is ready."""
    becoming = ["unshare", "--net", "--", "setpriv", "--clear-groups", "--"] if user.word else []
    return [
        *(*becoming, PROGRAM, "socket", "--tpm2", "--daemon", "--terminate"),
        *(("--runas", user.word) if user.word else ()),
        *("--tpmstate", f"dir=/proc/self/fd/{STATE},mode=0600"),
        *("--ctrl", ctrl_option(layout)),
    ]


def ctrl_option(layout: InstanceLayout) -> str:
    """The argument by which the process is known as this instance's; the descriptor counts."""
    return f"type=unixio,fd={LISTENER},path={layout.tpm}"


def marks(layout: InstanceLayout) -> Iterator[Path]:
    """By which argument its process is known, and that of an older version, which names the file with its pid."""
    yield Path(ctrl_option(layout))
    yield Path(f"file={layout.tpm_pid}")


@frozen
class SoftwareTpm:
    """Starts and ends these programs. An argument anybody may give to a program of his; so one is known by its directory, too.

    @ivar having: those of all TPMs, whose states are below a directory, that have an argument.
    """

    files: IFiles
    runner: IProcessRunner
    processes: IQemuProcesses
    clock: IReactorTime
    scopes: Scopes
    host: IHostDevices
    having: Callable[[Path, Path], list[int]]

    async def start(self, layout: InstanceLayout, uuid: str, user: TpmUser) -> None:
        """@raise HypervisorError: it does not start."""
        argv = tpm_argv(layout, user)
        if self.scopes.needed():
            argv = self.scopes.around(argv, layout.name, f"{uuid}-tpm")
        state = FirmwareStore(layout.paths, uuid).tpm
        with ExitStack() as stack:
            with opening(f"{layout.tpm} and {state}, which its TPM needs"):
                listener = stack.enter_context(closing(self.host.open_listener(layout.tpm, SOCKET_MODE)))
                directory = stack.enter_context(closing(self.host.open_directory(state)))
            result = await self.runner.run(argv, timeout=START_LIMIT, child_fds={LISTENER: listener, STATE: directory})
        if not result.succeeded:
            raise HypervisorError(f"the TPM did not start: {PROGRAM} {result.describe()}")

    def lives(self, layout: InstanceLayout) -> bool:
        """Whether there is one."""
        return any(True for _ in self._found(layout))

    async def end(self, layout: InstanceLayout) -> None:
        """Leave none; it ends by itself when its QEMU has. @raise HypervisorError: it cannot be ended."""
        if not self.files.exists(layout.tpm) and not self.files.exists(layout.tpm_pid):
            return
        left = await self._left(list(self._found(layout)), END_LIMIT)
        for pid, mark in left:
            self.processes.kill(pid, mark)
        for pid, _mark in await self._left(left, KILL_LIMIT):
            raise HypervisorError(f"instance {layout.name}: its TPM (process {pid}) cannot be killed; see dmesg")

    def _found(self, layout: InstanceLayout) -> Iterator[Marked]:
        mark, older = marks(layout)
        yield from ((pid, mark) for pid in self.having(layout.paths.kvm_firmware_dir, mark))
        if (pid := pid_in(self.files, layout.tpm_pid)) is not None and self.processes.is_alive(pid, older):
            yield pid, older

    async def _left(self, found: Sequence[Marked], limit: float) -> Sequence[Marked]:
        """Those that have not ended after so many seconds for all of them."""
        waiting = [Deferred.fromCoroutine(self._has_ended(*each, limit)) for each in found]
        ended = [await each for each in waiting]
        return [each for each, has_ended in zip(found, ended, strict=True) if not has_ended]

    async def _has_ended(self, pid: int, mark: Path, limit: float) -> bool:
        ended = self.processes.when_ended(pid, mark)
        ended.addTimeout(limit, self.clock)
        try:
            await ended
        except TimeoutError:
            return False
        return True


def processes_having(states: Path, argument: Path, proc: Path = Path("/proc")) -> list[int]:
    """All of this machine that were started with it, and handed one of the directories that TPMs have in `states`."""
    found = [each for each in proc.iterdir() if each.name.isdigit() and _has(each / "cmdline", argument)]
    own = {_identity(each) for each in states.glob("*/tpm")} - {None} if found else set()
    return [int(each.name) for each in found if _identity(each / "fd" / str(STATE)) in own]


def _identity(path: Path) -> tuple[int, int] | None:
    """Of what is there, whatever its name; None when nothing is."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _has(arguments: Path, argument: Path) -> bool:
    try:
        return os.fsencode(argument) in arguments.read_bytes().split(b"\0")
    except OSError:
        return False  # it has ended meanwhile
