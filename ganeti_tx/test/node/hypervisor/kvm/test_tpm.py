"""The program that is a TPM: whose it is, what it is handed, and that none stays."""

import os
from pathlib import Path
from typing import cast

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.host_devices import IHostDevices
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.tpm import (
    END_LIMIT,
    KILL_LIMIT,
    SoftwareTpm,
    marks,
    processes_having,
    tpm_argv,
)
from ganeti_tx.node.hypervisor.kvm.tpm_user import TpmUser, tpm_user
from ganeti_tx.node.hypervisor.scopes import Scopes
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, PATHS

LAYOUT = instance_layout(PATHS, NAME)
TSS = TpmUser("tss", 110, 115)
BECOMING = ["unshare", "--net", "--", "setpriv", "--clear-groups"]
NEW, OLDER = marks(LAYOUT)


class UserTests(SynchronousTestCase):
    """Where root decides."""

    def test_user(self) -> None:
        """QEMU's user is the TPM's; without one it is that of TPMs, and where there is none it stays whose the daemon is."""
        own = TpmUser("", os.geteuid(), os.getegid())
        known = {"tss": TSS, "nobody": TpmUser("nobody", 65534, 65534)}
        for run_as, among, user in (
            ("61234:61234", known, TpmUser("61234", 61234, 61234)),
            ("nobody", known, known["nobody"]),
            ("", known, TSS),
            ("", {}, own),
            ("missing", known, own),
        ):
            self.assertEqual(tpm_user(run_as, among.get), user if own.uid == 0 else own)

    def test_argv(self) -> None:
        """Who becomes somebody leaves all groups, and the network; nothing names a place to which he would have to find his way."""
        argv = tpm_argv(LAYOUT, TSS)
        self.assertEqual(argv[:6], [*BECOMING, "--"])
        self.assertEqual(argv[argv.index("--runas") + 1], "tss")
        own = tpm_argv(LAYOUT, TpmUser("", 0, 0))
        self.assertEqual(set(argv) - set(own), {*BECOMING, "--runas", "tss"})
        self.assertEqual(argv[argv.index("--tpmstate") + 1], "dir=/proc/self/fd/4,mode=0600")
        self.assertNotIn("--pid", argv)


@define
class Stubborn:
    """A process that ends when it is killed, if at all."""

    mark: Path
    mortal: bool = True
    pids: list[int] = field(factory=lambda: [70])
    killed: list[int] = field(factory=list)
    _waiting: list[Deferred[None]] = field(factory=list)

    def having(self, states: Path, argument: Path) -> list[int]:
        """It, and its like."""
        return self.pids if argument == self.mark else []

    def is_alive(self, pid: int, mark: Path) -> bool:
        """As long as it has not been killed."""
        return mark == self.mark and pid in self.pids

    def when_ended(self, pid: int, mark: Path) -> Deferred[None]:
        """Not before."""
        waiting: Deferred[None] = Deferred()
        self._waiting.append(waiting)
        if self.mortal and self.killed:
            waiting.callback(None)
        return waiting

    def kill(self, pid: int, mark: Path) -> None:
        """Note it."""
        assert mark == self.mark
        self.killed.append(pid)


class EndTests(SynchronousTestCase):
    """When its machine is gone."""

    def end(self, stubborn: Stubborn, there: bool = True) -> Deferred[None]:
        """End it, with all the time that it gets."""
        files = MemoryFiles()
        files.mkdir(LAYOUT.tpm.parent)
        if there:
            put(files, LAYOUT.tpm, b"")
            put(files, LAYOUT.tpm_pid, b"70\n")
        clock, processes, no_host = Clock(), cast(IQemuProcesses, stubborn), cast(IHostDevices, None)
        tpm = SoftwareTpm(files, FakeProcessRunner(), processes, clock, Scopes(files.exists), no_host, stubborn.having)
        ending = Deferred.fromCoroutine(tpm.end(LAYOUT))
        clock.pump([END_LIMIT, KILL_LIMIT])
        return ending

    def test_killed(self) -> None:
        """One that does not end by itself is killed, also when an older version has started it."""
        for mark in (NEW, OLDER):
            stubborn = Stubborn(mark)
            self.successResultOf(self.end(stubborn))
            self.assertEqual(stubborn.killed, [70])

    def test_many(self) -> None:
        """All there are have the same time to end, and to be gone."""
        stubborn = Stubborn(NEW, pids=[70, 71, 72])
        self.successResultOf(self.end(stubborn))
        self.assertEqual(stubborn.killed, [70, 71, 72])

    def test_immortal(self) -> None:
        """One that cannot be killed is told."""
        error = self.failureResultOf(self.end(Stubborn(NEW, mortal=False)), HypervisorError).value
        self.assertIn("its TPM (process 70) cannot be killed", str(error))

    def test_none(self) -> None:
        """Where there was none nobody is looked for."""
        stubborn = Stubborn(NEW)
        self.successResultOf(self.end(stubborn, there=False))
        self.assertEqual(stubborn.killed, [])

    def test_found(self) -> None:
        """Processes are found by one whole argument, and by a directory that nobody but they can have open."""
        proc, states = Path(self.mktemp()), Path(self.mktemp())
        (state := states / "uuid1" / "tpm").mkdir(parents=True)
        (like := Path(self.mktemp()) / "uuid1" / "tpm").mkdir(parents=True)
        mark = os.fsencode(NEW)
        for pid, argument, directory in (
            ("7", mark, state), ("8", mark + b"x", state), ("10", mark, like), ("11", mark, states), ("12", mark, None),
            ("self", b"", None),
        ):  # fmt: skip
            (proc / pid / "fd").mkdir(parents=True)
            (proc / pid / "cmdline").write_bytes(b"\0".join([b"swtpm", argument, b""]))
            if directory is not None:
                (proc / pid / "fd" / "4").symlink_to(directory.absolute())
        (proc / "9").mkdir()
        self.assertEqual(processes_having(states, NEW, proc), [7])
        self.assertEqual(processes_having(states / "none", NEW, proc), [])
