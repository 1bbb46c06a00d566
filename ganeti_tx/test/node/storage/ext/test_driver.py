"""Tests of external storage, with a provider of shell scripts."""

import os
from pathlib import Path
from typing import Any

from msgspec import json
from msgspec.structs import replace

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.mirrors import Mirrors
from ganeti_tx.node.storage.abilities import ILook, IUserspaceUri
from ganeti_tx.node.storage.ext.attached import AttachedVolumes
from ganeti_tx.node.storage.ext.driver import ExtStorage
from ganeti_tx.node.storage.ext.provider import Providers
from ganeti_tx.node.storage.ext.scripts import ProviderScripts
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.rpc.calls.mirror import BlockdevClose, BlockdevOpen
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.script_log import open_log
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.storage import OneDeviceContract
from ganeti_tx.test.contracts.storage_abilities import (
    OpeningContract,
    OwnerMarkContract,
    SnapshotContract,
    StreamContract,
    UserspaceUriContract,
)
from ganeti_tx.test.fakes.blocking_process import BlockingRunner
from ganeti_tx.test.fakes.loop_devices import need_loop_devices
from ganeti_tx.test.fakes.provider import told, write_provider


class ExtStorageTests(
    OneDeviceContract, OpeningContract, OwnerMarkContract, SnapshotContract, StreamContract, UserspaceUriContract
):
    """A node with the provider `shelf`, whose volumes are files."""

    template = "ext"
    renamable = False
    loop = False

    def storage(self) -> ExtStorage:
        """See `OneDeviceContract`."""
        self.root = Path(os.path.realpath(self.mktemp()))
        self.volumes = self.root / "volumes"
        self.paths = Paths(self.root)
        self.place = self.paths.extstorage_search_path[0] / "shelf"
        write_provider(self.place, self.volumes, loop=self.loop, parameters="colour what it looks like\n")
        self.paths.run_dir.mkdir(parents=True)
        return self.new_daemon()

    def new_daemon(self) -> ExtStorage:
        """The storage as a node daemon has it that was started now."""
        threads = InlineThreads()
        files = RealFiles(threads)
        providers = Providers(files, self.paths.extstorage_search_path)
        logs = self.paths.log_extstorage_dir
        scripts = ProviderScripts(providers, logs, BlockingRunner(), threads, lambda: 0.0, open_log)
        return ExtStorage("ext", scripts, AttachedVolumes(files, self.paths.extstorage_dir), threads)

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return ["shelf", f"u.ext.disk{number}"]

    def mark(self, disk: DiskSpec) -> str:
        """See `OwnerMarkContract`."""
        return (self.volumes / f"{(disk.logical_id or [''])[-1]}.owner").read_text().strip()

    def opened(self) -> list[bool]:
        """See `OpeningContract`."""
        return [script == "open" for script in self.ran() if script in ("open", "close")]

    def content(self, disk: DiskSpec) -> str:
        """See `SnapshotContract`."""
        return (self.volumes / (disk.logical_id or [""])[-1]).read_bytes()[:20].rstrip(b"\0").decode()

    def fill(self, disk: DiskSpec, content: str) -> None:
        """See `SnapshotContract`."""
        with open(self.volumes / (disk.logical_id or [""])[-1], "r+b") as file:
            file.write(content.encode().ljust(20, b"\0"))

    def ran(self) -> list[str]:
        """The scripts that were run, in order."""
        return [run[0] for run in told(self.volumes)]

    def last(self, script: str) -> list[str]:
        """What a script was told the last time."""
        return [run for run in told(self.volumes) if run[0] == script][-1][1:]

    def let_fail(self, script: str, fail: bool = True) -> None:
        """Let it fail from now on, or no longer."""
        mark = self.volumes / f"fail-{script}"
        mark.touch() if fail else mark.unlink()

    def test_told(self) -> None:
        """What each script gets in its environment."""
        disk = replace(self.disk(), name="data", params={"access": "userspace", "provider": "shelf", "colour": "red"})
        always = ["EXTP_COLOUR=red", "VOL_CNAME=data"]
        base = ["VOL_NAME=u.ext.disk0", "VOL_UUID=d0"]
        self.get(self.tree.create(disk, "web1"))
        self.assertEqual(self.last("create"), [*always, "VOL_NAME=u.ext.disk0", "VOL_SIZE=8", "VOL_UUID=d0"])
        self.assertEqual(self.last("setinfo"), [*always, "VOL_METADATA=originstname+web1", *base])
        self.get(self.tree.assemble(disk, True))
        self.assertEqual(self.last("attach"), [*always, *base])
        self.assertEqual(self.last("open"), [*always, "VOL_NAME=u.ext.disk0", "VOL_OPEN_EXCLUSIVE=True", "VOL_UUID=d0"])
        self.get(self.tree.grow(disk, 4, False, True))
        grown = ["VOL_NAME=u.ext.disk0", "VOL_NEW_SIZE=12", "VOL_SIZE=8", "VOL_UUID=d0"]
        self.assertEqual(self.last("grow"), [*always, *grown[:1], *grown[1:]])
        self.get(self.tree.snapshot(disk, "snap", 8))
        self.assertEqual(
            self.last("snapshot"),
            [
                *always, "VOL_NAME=u.ext.disk0", "VOL_SIZE=8",
                "VOL_SNAPSHOT_NAME=u.ext.disk0.snap", "VOL_SNAPSHOT_SIZE=8", "VOL_UUID=d0",
            ],
        )  # fmt: skip
        self.get(self.tree.remove(disk))
        self.assertEqual(self.ran()[-3:], ["close", "detach", "remove"])

    def test_opened(self) -> None:
        """It is opened where an instance may write to it, once, and closed before it is detached; also by a new daemon."""
        self.create()
        self.get(self.tree.assemble(self.disk(), False))
        self.assertNotIn("open", self.ran())
        for _ in range(2):
            self.get(self.tree.assemble(self.disk(), True))
        self.assertEqual(self.ran().count("open"), 1)
        self.assertTrue(self.get(self.new_daemon().is_ready(self.disk())))
        self.get(self.new_daemon().shutdown(self.disk()))
        self.assertEqual(self.ran()[-2:], ["close", "detach"])
        self.assertFalse(self.get(self.store.is_ready(self.disk())))

    def test_migration(self) -> None:
        """The node calls of a migration tell the provider who may write to it."""
        self.create()
        disk = replace(self.disk(), index=0)
        self.get(self.tree.assemble(disk, False))
        mirrors = Mirrors(self.tree, DiskLinks(RealFiles(InlineThreads()), self.paths))
        self.get(mirrors.open(BlockdevOpen(instance_name="web1", disks=[disk], exclusive=False)))
        self.assertIn("VOL_OPEN_EXCLUSIVE=False", self.last("open"))
        for _ in range(2):
            self.get(mirrors.close(BlockdevClose(instance_name="web1", disks=[disk])))
        self.assertEqual(self.ran().count("close"), 1)

    def test_planted(self) -> None:
        """What others could have written of a volume is not believed, and nothing is written beside it."""
        self.create()
        self.assemble()
        place = self.paths.extstorage_dir
        place.chmod(0o775)
        refusal = f"{place} is not used: others may have put links into it"
        self.assertIn(refusal, self.refused(self.tree.find(self.disk())))
        self.assertIn(refusal, self.refused(self.store.assemble(self.disk(1), True)))
        place.chmod(0o755)
        place.rename(self.root / "elsewhere")
        place.symlink_to(self.root / "elsewhere")
        self.assertIn(f"{place} is not used: it is a link", self.refused(self.tree.find(self.disk())))
        self.assertEqual(len(os.listdir(place)), 1)
        place.unlink()
        (self.root / "elsewhere").rename(place)
        self.assertTrue(self.get(self.store.is_ready(self.disk())))

    @property
    def record(self) -> Path:
        """What is kept of the first disk's attachment."""
        return self.paths.run_dir / "extstorage" / "shelf:u.ext.disk0"

    def recorded_as(self, path: Path, size: int) -> None:
        """The device that is recorded is another one now, which was made with so many MiB."""
        with path.open("w") as file:
            file.truncate(size << 20)
        self.record.write_bytes(json.encode({**json.decode(self.record.read_bytes()), "path": str(path)}))

    def test_looked_at(self) -> None:
        """A look attaches at most: an instance may run on what no record tells of. It is detached when it is taken down."""
        self.create()
        self.assemble()
        self.record.unlink()
        before = len(self.ran())
        for _ in range(2):
            self.size()
        self.assertEqual(self.ran()[before:], ["attach"])
        self.get(self.tree.shutdown(self.disk()))
        self.assertEqual(self.ran()[before:], ["attach", "detach"])

    def test_device_gone(self) -> None:
        """So does one at a volume whose device has another name now; what writes to it is known all the same."""
        self.create()
        status = self.assemble()
        self.recorded_as(self.root / "gone", 1)
        (self.root / "gone").unlink()
        before = len(self.ran())
        self.assertEqual(self.get(self.tree.find(self.disk())), status)
        self.get(self.tree.shutdown(self.disk()))
        self.assertEqual(self.ran()[before:], ["attach", "close", "detach"])

    def test_grow_another(self) -> None:
        """The size is that of the volume when the name of its device is another one's by now, or leads to nothing."""
        self.create()
        for number, size in enumerate((4096, 0), 2):
            self.assemble()
            self.recorded_as(self.root / "another", size)
            self.assertEqual(self.size(), 4 + 2 * number)
            self.recorded_as(self.root / "another", size)
            self.grow(self.disk(), 2)
            self.assertIn(f"VOL_SIZE={4 + 2 * number}", self.last("grow"))
        self.assertEqual(self.size(), 12)

    def test_grow_nothing(self) -> None:
        """From a device without a size nobody can tell how large the volume is to be."""
        self.create()
        (self.root / "empty").touch()
        self.attaches(str(self.root / "empty"))
        self.assertIn("has 0 MiB", self.refused(self.store.grow(self.disk(), 4)))
        self.assertNotIn("grow", self.ran())

    def test_attach_is_taken_back(self) -> None:
        """When it cannot be opened it is not attached, either; what was attached before stays so."""
        self.create()
        self.let_fail("open")
        self.assertIn("told to fail at open", self.refused(self.tree.assemble(self.disk(), True)))
        self.assertEqual(self.ran()[-2:], ["open", "detach"])
        self.assertFalse(self.get(self.store.is_ready(self.disk())))
        self.get(self.tree.assemble(self.disk(), False))
        self.refused(self.tree.assemble(self.disk(), True))
        self.assertTrue(self.get(self.store.is_ready(self.disk())))

    def test_used(self) -> None:
        """What cannot be detached stays attached."""
        self.create()
        self.assemble()
        self.let_fail("detach")
        self.refused(self.tree.remove(self.disk()))
        self.assertTrue(self.get(self.store.is_ready(self.disk())))
        self.let_fail("detach", False)
        self.get(self.tree.remove(self.disk()))

    def test_used_elsewhere(self) -> None:
        """Neither is one detached whose device has another name by now, and that something may use under it."""
        self.create()
        self.assemble()
        self.recorded_as(self.root / "gone", 1)
        (self.root / "gone").unlink()
        self.let_fail("detach")
        self.assertIn("told to fail at detach", self.refused(self.tree.shutdown(self.disk())))
        self.assertTrue(self.record.exists())
        self.let_fail("detach", False)

    def test_not_removed(self) -> None:
        """A volume that is there and cannot be removed is an error, with what the script said."""
        self.create()
        self.let_fail("remove")
        text = self.refused(self.tree.remove(self.disk()))
        self.assertRegex(
            text, "ext disk u.ext.disk0 of provider shelf: remove exited with status 3; log .* told to fail"
        )
        self.assertIsNotNone(self.get(self.tree.find(self.disk())))

    def test_out_of_reach(self) -> None:
        """One that can be attached no more than removed is not taken for gone."""
        self.create()
        for script in ("remove", "attach"):
            self.let_fail(script)
        self.assertIn("told to fail at remove", self.refused(self.tree.remove(self.disk())))
        self.assertTrue((self.volumes / "u.ext.disk0").exists())

    def test_optional(self) -> None:
        """Without scripts to open and close it does without; a snapshot is refused."""
        for script in ("open", "close", "snapshot"):
            (self.place / script).unlink()
        self.create()
        self.assemble()
        self.assertIn("no script for it", self.refused(self.tree.snapshot(self.disk(), "snap", 8)))
        self.get(self.tree.shutdown(self.disk()))

    def test_providers(self) -> None:
        """A provider that is not there, or cannot be used, is told with the reason; and so are strange parameters."""
        other = replace(self.disk(), logical_id=["other", "v"])
        for asked in (self.store.create, self.store.find, ILook(self.store).find_unused):
            self.assertIn("provider 'other' not found on this node; searched: ", self.refused(asked(other)))
        strange = replace(self.disk(), params={"size_of": 3})
        self.assertIn("no parameter 'size_of'; allowed: colour", self.refused(self.store.create(strange)))
        (self.place / "grow").chmod(0o644)
        self.assertIn("script grow is not executable by its owner", self.refused(self.store.create(self.disk())))

    def test_names(self) -> None:
        """Names lead to no other place."""
        for wrong in (["../shelf", "v"], ["shelf", "../v"], ["shelf", ""], ["shelf"], ["shelf", 3], ["a\n", "b"]):
            self.refused(self.store.create(replace(self.disk(), logical_id=wrong)))
        self.assertEqual(self.ran(), [])

    def attaches(self, *lines: str) -> None:
        """From now on `attach` prints this."""
        script = "".join(f"echo '{line}'\n" for line in lines)
        (self.place / "attach").write_text(f"#!/bin/sh\n{script}")

    def uri(self, hypervisor: str, **params: Any) -> str | None:
        """What a hypervisor opens."""
        found: str | None = self.get(IUserspaceUri(self.store).uri(replace(self.disk(), params=params), hypervisor))
        return found

    def test_only_userspace(self) -> None:
        """A volume without a device is ready, and opened by those hypervisors alone that have a URI."""
        self.create()
        self.attaches("", "kvm:rbd:pool/v", "XEN-PVM:other:v")
        self.assertEqual(self.assemble().dev_path, "")
        self.assertEqual(self.size(), 8)
        self.assertEqual((self.uri("kvm"), self.uri("xen-pvm", access="userspace")), ("rbd:pool/v", "other:v"))
        text = self.refused(IUserspaceUri(self.store).uri(self.disk(), "lxc"))
        self.assertIn("nothing that hypervisor lxc can open", text)

    def test_attached_as_nothing(self) -> None:
        """What is no device, or none that is there, is refused."""
        self.create()
        for lines, reason in (
            ((), "neither"), (("",), "neither"), (("sda",), "no path"), (("", "rbd"), "neither"),
            (("/nowhere",), "which is not there"),
        ):  # fmt: skip
            self.attaches(*lines)
            self.assertIn(reason, self.refused(self.tree.assemble(self.disk(), True)))
            self.assertFalse(self.get(self.store.is_ready(self.disk())))
            self.assertEqual(self.ran()[-1], "detach")

    def test_refused_while_used(self) -> None:
        """What is attached stays so when it is attached again as nothing that can be used."""
        self.create()
        self.assemble()
        self.attaches("sda")
        self.assertIn("no path", self.refused(self.tree.assemble(self.disk(), True)))
        self.assertNotIn("detach", self.ran())

    def test_looked_at_as_nothing(self) -> None:
        """A look detaches what was attached as nothing that can be used, or as what cannot be looked at."""
        self.create()
        self.attaches("sda")
        self.assertIsNone(self.get(self.tree.find(self.disk())))
        self.assertEqual(self.ran()[-1], "detach")
        self.attaches(str(self.root / ("x" * 300)))
        self.assertIn("too long", self.refused(self.tree.find(self.disk())))
        self.assertEqual(self.ran()[-1], "detach")
        self.assertEqual(self.ran().count("detach"), 2)

    def test_other_lines(self) -> None:
        """What a script prints beside a path and what hypervisors open is left out."""
        self.create()
        path = str(self.volumes / "u.ext.disk0")
        self.attaches(path, "mapped by shelf 1.2", "KVM:file:/v")
        self.assertEqual(self.assemble().dev_path, path)
        self.assertEqual(self.uri("kvm", access="userspace"), "file:/v")


class LoopTests(ExtStorageTests):
    """Volumes that are loop devices."""

    loop = True

    def storage(self) -> ExtStorage:
        """See `ExtStorageTests`."""
        need_loop_devices()
        store = super().storage()
        self.addCleanup(self.detach_all)
        return store

    def detach_all(self) -> None:
        """Let no device stay."""
        for number in (0, 1, 7):
            self.get(self.store.shutdown(self.disk(number)))

    def fill(self, disk: DiskSpec, content: str) -> None:
        """See `SnapshotContract`: through the device."""
        path = self.get(self.tree.found(disk)).dev_path
        with open(path, "r+b", buffering=0) as file:
            file.write(content.encode().ljust(512, b"\0"))
            os.fsync(file.fileno())
