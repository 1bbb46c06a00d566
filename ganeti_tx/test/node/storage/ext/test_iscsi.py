"""The provider `iscsi` that comes with the program, with real targets of tgt."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.abilities import IUserspaceUri
from ganeti_tx.node.storage.ext.attached import AttachedVolumes
from ganeti_tx.node.storage.ext.driver import ExtStorage
from ganeti_tx.node.storage.ext.provider import Providers
from ganeti_tx.node.storage.ext.scripts import ProviderScripts
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.script_log import open_log
from ganeti_tx.runtime.shipped import shipped
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.storage import OneDeviceContract
from ganeti_tx.test.fakes.blocking_process import BlockingRunner
from ganeti_tx.test.fakes.iscsi_target import Target, need_tgt

MIB = 1 << 20
#: A target that is there, of whatever storage system.
GIVEN = "iqn.2001-05.com.example:disks"


class IscsiTests(OneDeviceContract):
    """Disks that only QEMU has (`kernel=no`), as this machine's kernel need not know iSCSI: they have no path."""

    template = "ext"
    renamable = False

    def storage(self) -> ExtStorage:
        """See `OneDeviceContract`."""
        need_tgt()
        root = Path(os.path.realpath(self.mktemp()))
        self.pool, self.conf = root / "pool", root / "conf"
        for path in (self.pool, self.conf):
            path.mkdir(parents=True)
        self.tgt = Target(root)
        self.addCleanup(self.tgt.stop)
        self.tgt.start()
        paths, threads = Paths(root), InlineThreads()
        provider = paths.extstorage_search_path[0] / "iscsi"
        shutil.copytree(shipped("extstorage/iscsi"), provider)
        self.listed = provider / "directories"
        self.listed.write_text(f"pool {self.pool}\nconf {self.conf}\npool {root}/link\n")
        (provider / "hosts").write_text("store.example.com\nstores\n")
        (provider / "portals").write_text(f"{self.portal}\n")
        (root / "link").symlink_to(self.pool)
        paths.run_dir.mkdir(parents=True)
        files = RealFiles(threads)
        providers = Providers(files, paths.extstorage_search_path)
        logs = paths.log_extstorage_dir
        scripts = ProviderScripts(providers, logs, BlockingRunner(), threads, lambda: 0.0, open_log)
        return ExtStorage("ext", scripts, AttachedVolumes(files, paths.run_dir / "extstorage"), threads)

    def size(self, number: int = 0) -> int:
        """See `StorageContract`: what tgt shows, as the storage of disks without a path tells what it was told."""
        self.get(self.tree.found(self.disk(number)))
        return (self.pool / str((self.disk(number).logical_id or [""])[-1])).stat().st_size // MIB

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return ["iscsi", f"u.ext.disk{number}"]

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        return replace(super().disk(number, size, node), params=self.params())

    def params(self, **more: str) -> dict[str, Any]:
        """What is said of a disk."""
        said = {"pool": str(self.pool), "conf": str(self.conf), "initiators": "127.0.0.1+192.0.2.0/24"}
        of_target = {"portal": self.portal, "control": str(self.tgt.control), "kernel": "no"}
        return {"provider": "iscsi", "access": "userspace", **said, **of_target, **more}

    @property
    def portal(self) -> str:
        """Where tgt listens."""
        return f"127.0.0.1:{self.tgt.port}"

    @property
    def file(self) -> Path:
        """That of the first disk."""
        return self.pool / str((self.disk().logical_id or [""])[-1])

    def uri(self, disk: DiskSpec) -> str:
        """By which QEMU opens a disk that is ready."""
        found = self.get(IUserspaceUri(self.store).uri(disk, "kvm"))
        assert found is not None
        return found

    def test_created(self) -> None:
        """What QEMU opens is as large as was said, is there for these addresses only, and tgt reads it when it starts."""
        self.create(size=16)
        self.assemble()
        uri = self.uri(self.disk())
        self.assertEqual(uri, f"iscsi://127.0.0.1:{self.tgt.port}/iqn.2008-11.org.ganeti:{self.file.name}/1")
        told = subprocess.run(["iscsi-readcapacity16", uri], capture_output=True, check=True).stdout
        self.assertIn(f"Total size:{16 * MIB}\n".encode(), told)
        shown = self.tgt.tell("show", "target").stdout.decode()
        self.assertIn("ACL information:\n        127.0.0.1\n        192.0.2.0/24\n", shown)
        [conf] = self.conf.iterdir()
        self.assertIn(f"backing-store {self.file}\n", conf.read_text())
        self.remove()
        self.assertEqual([*self.pool.iterdir(), *self.conf.iterdir()], [])

    def test_for_others(self) -> None:
        """Who is not among its initiators gets nothing; the administrator may say which can be among them at all."""
        others = replace(self.disk(), params=self.params(initiators="192.0.2.7"))
        self.get(self.tree.create(others, "web1"))
        self.assertIn("there is no LUN 1", self.refused(self.tree.assemble(others, True)))
        self.get(self.tree.remove(others))
        self.listed.with_name("initiators").write_text("192.0.2.0/24\n")
        said = self.refused(self.tree.create(self.disk(), "web1"))
        self.assertIn("the parameter initiators is not allowed to be '127.0.0.1'", said)
        self.get(self.tree.create(replace(self.disk(), params=self.params(initiators="192.0.2.0/24")), "web1"))
        self.get(self.tree.remove(others))  # whatever could be said when it was made

    def test_grow(self) -> None:
        """A disk grows while nobody is connected."""
        self.create(size=8)
        self.grow(self.disk(), 8)
        self.assertEqual(self.file.stat().st_size, 16 * MIB)
        self.assemble()
        told = subprocess.run(["iscsi-readcapacity16", self.uri(self.disk())], capture_output=True, check=True).stdout
        self.assertIn(f"Total size:{16 * MIB}\n".encode(), told)

    def given(self, size: int = 8, lun: str = "1", target: str = GIVEN) -> DiskSpec:
        """A disk that is the LUN of a target which others have made."""
        return replace(self.disk(3, size), params=self.params(target=target, lun=lun))

    def make_given(self) -> Path:
        """The target of others, with a LUN of 8 MiB; its file."""
        volume = self.pool.with_name("volume")
        with volume.open("wb") as made:
            made.truncate(8 * MIB)
        for mode, more in (
            ("target", ("--targetname", GIVEN)),
            ("logicalunit", ("--lun", "1", "--backing-store", str(volume))),
        ):
            self.assertEqual(self.tgt.tell("new", mode, "--tid", "90", *more).returncode, 0)
        self.assertEqual(self.tgt.tell("bind", "target", "--tid", "90", "--initiator-address", "ALL").returncode, 0)
        return volume

    def list_targets(self, *lines: str) -> None:
        """What the administrator writes of those at the portal."""
        self.listed.with_name("targets").write_text("".join(f"{self.portal} {line}\n" for line in lines))

    def test_given(self) -> None:
        """A LUN that is there is taken when it is large enough, and stays when its disk is removed."""
        volume = self.make_given()
        self.list_targets(GIVEN)
        self.get(self.tree.create(self.given(), "web1"))
        self.get(self.tree.assemble(self.given(), True))
        self.assertTrue(self.uri(self.given()).endswith(f"{GIVEN}/1"))
        self.assertIn("cannot let it grow", self.refused(self.tree.grow(self.given(), 8, False, True)))
        self.get(self.tree.remove(self.given()))
        self.assertEqual(volume.stat().st_size, 8 * MIB)
        self.assertIn("has 8 MiB, not 16", self.refused(self.tree.create(self.given(16), "web1")))
        self.assertIn("there is no LUN 7", self.refused(self.tree.create(self.given(lun="7"), "web1")))

    def test_listed(self) -> None:
        """No LUN is taken, nor made ready, that the administrator has not listed, or has for another volume."""
        self.make_given()
        given, own = self.given(), str((self.given().logical_id or [""])[-1])
        for lines in ((f"{GIVEN} 1",), (f"{GIVEN} 1 {own}",), (f"{GIVEN} 7", GIVEN)):
            self.list_targets(*lines)
            self.get(self.tree.create(given, "web1"))
        for line in (f"{GIVEN} 7", f"{GIVEN} 1 {own}0", f"{GIVEN}s", "iqn.2001-05.com.example:dis.s"):
            self.list_targets(line)
            for refused in (self.tree.create(given, "web1"), self.tree.assemble(given, True)):
                self.assertIn("targets does not list it", self.refused(refused))
        self.listed.with_name("targets").unlink()
        self.assertIn("there is no file", self.refused(self.tree.create(given, "web1")))

    def test_of_another_volume(self) -> None:
        """The target that the provider has made for one volume is no other's, whatever is listed."""
        self.create()
        target = f"iqn.2008-11.org.ganeti:{self.file.name}"
        self.list_targets(target, f"{target} 1")
        stolen = self.given(target=target)
        for refused in (self.tree.create(stolen, "web1"), self.tree.assemble(stolen, True)):
            self.assertIn("it is the disk of one volume", self.refused(refused))

    def test_portals(self) -> None:
        """No portal is asked, as a node's CHAP is shown there, that the administrator has not listed."""
        self.listed.with_name("portals").write_text("192.0.2.10\n")
        for refused in (self.tree.create(self.disk(), "web1"), self.tree.assemble(self.disk(), True)):
            self.assertIn(f"portal is not allowed to be '{self.portal}'", self.refused(refused))
        self.assertEqual([*self.pool.iterdir()], [])

    def test_not_allowed(self) -> None:
        """Nothing that another program, or a shell behind ssh, would take otherwise gets that far."""
        for name, value, words in (
            ("portal", "127.0.0.1;reboot", "the parameter portal may have"),
            ("portal", "x\n\x1b[2J'", "the parameter portal may have"),
            ("lun", "1\n2", "the parameter lun is a number"),
            ("lun", "01", "the parameter lun is a number"),
            ("kernel", "\x1b[2J", "the parameter kernel is yes or no"),
            ("pool", f"{self.pool}/../pool", "the parameter pool is an absolute path"),
            ("pool", "srv", "the parameter pool is an absolute path"),
            ("pool", "/etc/cron.d", "directories does not list it"),
            ("pool", str(self.conf), "directories does not list it"),
            ("pool", f"{self.pool}/", "the parameter pool is an absolute path"),
            ("pool", str(self.pool.with_name("link")), "leads elsewhere by a symbolic link"),
            ("conf", "/etc/logrotate.d", "directories does not list it"),
            ("initiators", "", "the parameter initiators is missing"),
            ("initiators", "ALL", "is not allowed to have 'ALL': only addresses, and networks with a length from 1 on"),
            ("initiators", "127.0.0.1+0.0.0.0/0", "is not allowed to have '0.0.0.0/0'"),
            ("initiators", "[::]/00", "is not allowed to have '[::]/00'"),
            ("initiators", "127.0.0.1+beef", "is not allowed to have 'beef'"),
            ("host", "-oProxyCommand=reboot", "the parameter host may have"),
            ("host", "store", f"'store': {self.listed.with_name('hosts')} does not list it"),
            ("kernel", "maybe", "yes or no"),
            ("lun", "1", "the parameter target is missing"),
        ):
            disk = replace(self.disk(), params=self.params(**{name: value}))
            said = self.refused(self.tree.create(disk, "web1"), BlockDeviceError)
            self.assertIn(words, said)
            self.assertTrue(said.isprintable(), said)
        self.listed.unlink()
        self.assertIn("there is no file", self.refused(self.tree.create(self.disk(), "web1")))
        self.assertEqual([*self.pool.iterdir(), *self.conf.iterdir()], [])
