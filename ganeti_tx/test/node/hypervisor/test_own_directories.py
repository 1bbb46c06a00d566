"""What others than root could have put into a driver's directories is neither read, nor run, nor removed."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, maybeDeferred
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.node.hypervisor.interfaces import IKeepsState
from ganeti_tx.node.hypervisor.kept import KEPT, kept_machines
from ganeti_tx.node.hypervisor.own_directories import check_directories
from ganeti_tx.node.hypervisor.registry import load_hypervisors
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, USERS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec
from ganeti_tx.test.node.hypervisor.test_registry import SomeParts

NAME = "web1.example.com"
NOBODY = 65534
CHECKED = (Hypervisor.LXC, Hypervisor.CHROOT, Hypervisor.XEN_PVM, Hypervisor.XEN_HVM)
RECORDS = ("instance.json", "domain.json", "migration.json", "config", "relay.pid")


class OwnDirectoriesTests(SynchronousTestCase):
    """Drivers on a disk; the programs are only noted."""

    def setUp(self) -> None:
        self.top = Path(self.mktemp()).absolute()
        self.paths = Paths(self.top / "n1")
        self.runner = FakeProcessRunner()
        self.files = RealFiles(InlineThreads())
        self.drivers = load_hypervisors(SomeParts(paths=self.paths, files=self.files, runner=self.runner))
        self.victim = self.top / "victim"
        (self.victim / NAME).mkdir(parents=True)
        (self.victim / NAME / "disk0").touch()
        self.paths.run_dir.mkdir(parents=True)

    def place(self, kind: Hypervisor) -> Path:
        """Where a driver keeps what it knows of its machines."""
        return self.paths.run_dir / KEPT[kind][0]

    def put(self, kind: Hypervisor) -> Path:
        """Have something there that looks like what is left of an instance; its directory."""
        directory = self.place(kind) / NAME
        directory.mkdir(parents=True, mode=0o750)
        for name in RECORDS:
            (directory / name).write_text("{}")
        for each in (directory, *directory.parents[: len(directory.relative_to(self.paths.run_dir).parts) - 1]):
            each.chmod(0o750)
        return directory

    def calls(self, driver: Any) -> Iterator[Callable[[], Any]]:
        """All that reads, runs or removes something."""
        spec = kvm_spec(name=NAME)
        yield lambda: driver.info(NAME)
        yield lambda: driver.stop(NAME, 0.0, True)
        yield lambda: driver.stop(NAME, 5.0)
        yield lambda: driver.start(spec, [])
        yield lambda: driver.reboot(spec, [])
        if hasattr(driver, "migration_side"):
            yield lambda: driver.migration_side(NAME)
            yield lambda: driver.migration_progress(NAME)
            yield lambda: driver.refuse(NAME)
            yield lambda: driver.leave_source(NAME)
            yield lambda: driver.stay_on_source(NAME, False)
            yield lambda: driver.accept(spec, [], {}, "192.0.2.1")
            yield lambda: driver.send(spec, "192.0.2.1", True)
            yield lambda: driver.balloon(NAME, 128)

    def refused(self, kind: Hypervisor, path: Path, *, listing: bool = True) -> None:
        """Nothing is done, because of a directory."""
        driver = self.drivers[kind]
        calls = list(self.calls(driver))
        if listing:
            calls += [driver.kept_names, driver.list_instances]  # type: ignore[attr-defined]
        for call in calls:
            failed = self.failureResultOf(maybeDeferred(self.called, call), HypervisorError)
            self.assertIn(f"{path} is not used", failed.getErrorMessage())
        self.assertEqual(self.runner.commands, [])
        self.assertTrue((self.victim / NAME / "disk0").exists())

    def called(self, call: Callable[[], Any]) -> Any:
        """What comes of it."""
        result = call()
        return Deferred.fromCoroutine(result) if hasattr(result, "send") else result

    def test_kvm(self) -> None:
        """Its driver, which has several: nothing of any is read, neither by a question nor by a daemon that is started."""
        driver: Any = self.drivers[Hypervisor.KVM]
        for directory in (
            self.paths.kvm_conf_dir,
            self.paths.kvm_pid_dir,
            self.paths.kvm_firmware_dir,
            self.paths.kvm_dir,
        ):
            directory.mkdir(parents=True, exist_ok=True, mode=0o750)
            directory.chmod(0o770)
            calls = [*self.calls(driver), driver.kept_names, driver.list_instances]
            calls += [lambda: driver.console(kvm_spec(name=NAME)), lambda: driver.freeze(NAME, 1.0)]
            calls += [lambda: driver.guest_interfaces(NAME), lambda: driver.clear_ended(NAME)]
            for call in calls:
                failed = self.failureResultOf(maybeDeferred(self.called, call), HypervisorError)
                self.assertIn(f"{directory} is not used", failed.getErrorMessage())
            driver.watch_ends(self.fail)
            driver.thaw_all()
            driver.listen_again(nullcontext)
            directory.chmod(0o750)
        self.assertEqual(self.runner.commands, [])

    def test_others_may_write(self) -> None:
        """The directory of all instances could have been filled by others."""
        for kind in CHECKED:
            self.put(kind)
            self.place(kind).chmod(0o770)
            self.refused(kind, self.place(kind))

    def test_of_another(self) -> None:
        """It is another user's; so it is no help that the directory above has been made root's since."""
        if os.geteuid() != 0:
            raise SkipTest("only root can give a directory to somebody else")
        for kind in CHECKED:
            directory = self.put(kind)
            os.chown(directory, NOBODY, NOBODY)
            self.refused(kind, directory, listing=False)
            os.chown(self.place(kind), NOBODY, NOBODY)
            self.refused(kind, self.place(kind))

    def test_link(self) -> None:
        """It is a link to a directory that is root's, whose files would be removed."""
        for kind in CHECKED:
            self.place(kind).parent.mkdir(exist_ok=True, mode=0o750)
            self.place(kind).symlink_to(self.victim)
            self.refused(kind, self.place(kind))

    def test_link_of_instance(self) -> None:
        """The same for the directory of one instance."""
        for kind in CHECKED:
            self.place(kind).mkdir(parents=True, mode=0o750)
            (self.place(kind) / NAME).symlink_to(self.victim / NAME)
            self.refused(kind, self.place(kind) / NAME, listing=False)

    def test_not_ours(self) -> None:
        """What no driver of Xen has written stays, and is named, though the directory is root's."""
        for kind in (Hypervisor.XEN_PVM, Hypervisor.XEN_HVM):
            directory = self.place(kind) / NAME
            directory.mkdir(parents=True, mode=0o750)
            (directory / "disk0").touch()
            stopped = Deferred.fromCoroutine(self.drivers[kind].stop(NAME, 0.0, True))
            self.assertIn(f"{directory / 'disk0'} was not", self.failureResultOf(stopped).getErrorMessage())
            self.assertTrue((directory / "disk0").exists())

    def test_log(self) -> None:
        """The logs' directory must be root's, too, where drivers append to what is in it."""
        for kind, directory in (
            (Hypervisor.CHROOT, self.paths.log_chroot_dir),
            (Hypervisor.XEN_PVM, self.paths.log_xen_dir),
        ):
            directory.mkdir(parents=True)
            directory.chmod(0o777)
            self.refused(kind, directory, listing=False)

    def test_check(self) -> None:
        """What is not there is no fault; what cannot be looked at is one."""
        check_directories(self.files, [self.top / "gone"])
        (self.top / "file").touch()
        self.assertRaises(HypervisorError, check_directories, self.files, [self.top / "file" / "below"])

    def test_made_before(self) -> None:
        """A boot makes each of them for root, or one that it lies in, so that nobody else is first."""
        paths = Paths()
        mine = {
            Path(path) for path, row in DIRECTORY_MODES.items() if USERS[row.owner] == "root" and not row.mode & 0o022
        }
        places = [paths.run_dir / place for place, _ in KEPT.values()]
        for path in (*places, paths.log_kvm_dir, paths.log_xen_dir, paths.log_chroot_dir):
            self.assertTrue(mine & {path, *path.parents}, path)

    def test_nobody_moves_them(self) -> None:
        """What they lie in is root's, too, and nobody can move or remove there what is another user's."""
        for path in (Paths().run_dir, Paths().log_kvm_dir.parent):
            row = DIRECTORY_MODES[str(path)]
            self.assertEqual(
                (USERS[row.owner], row.mode & stat.S_ISVTX, row.mode & stat.S_IWOTH), ("root", stat.S_ISVTX, 0)
            )

    def test_all_kept(self) -> None:
        """Each driver that keeps state is one in whose directory the watcher looks, and for the names that the driver has."""
        keeping = {name: driver for name, driver in self.drivers.items() if IKeepsState.providedBy(driver)}
        self.assertEqual(set(keeping), set(KEPT))
        for number, (name, driver) in enumerate(keeping.items()):
            place, ending = self.paths.run_dir / KEPT[Hypervisor(name)][0], KEPT[Hypervisor(name)][1]
            self.files.mkdir(place / f"web{number}.example.com{ending}")
            self.assertEqual(IKeepsState(driver).kept_names(), [f"web{number}.example.com"])
        self.assertEqual(kept_machines(self.paths), {f"web{number}.example.com" for number in range(len(KEPT))})
