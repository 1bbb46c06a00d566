"""Instances on block devices that are there already, and on external storage, in a cluster of real processes."""

import os
import tempfile
from pathlib import Path

from ganeti_tx.test.fakes.loop_devices import attach, attached_to, detach, need_loop_devices
from ganeti_tx.test.fakes.provider import told, write_provider
from ganeti_tx.test.real.test_devcluster import OS, DevclusterCase

ADD = f"gnt-instance add -o {OS} -H fake --no-name-check --no-ip-check --ignore-ipolicy"


class SharedStorageTests(DevclusterCase):
    """What all nodes reach: a directory of a provider's volumes, and a device."""

    options = ("--enabled-hypervisors=fake", "--enabled-disk-templates=file,ext,blockdev")

    def setUp(self) -> None:
        need_loop_devices()
        super().setUp()
        self.directory = Path(tempfile.mkdtemp(prefix="gtx", dir="/tmp"))
        self.second = self.cluster.layout.nodes[1].name

    def detach_all(self, volumes: Path) -> None:
        """Let no device stay."""
        for device in [each for volume in volumes.glob("*.disk*") for each in attached_to(volume)]:
            detach(device)

    def test_external(self) -> None:
        """A provider's scripts make, attach, grow and remove the disks of an instance, which moves to another node."""
        volumes = self.directory / "volumes"
        self.addCleanup(self.detach_all, volumes)
        name = f"shelf-{self.directory.name}"
        for node in self.cluster.layout.nodes:
            write_provider(node.root / "srv/ganeti/extstorage" / name, volumes, loop=True, parameters="colour x\n")
        self.assertIn(f"Provider: {name}\n", self.cluster.ok("gnt-storage diagnose"))
        self.cluster.ok(f"{ADD} -t ext --disk 0:size=16m,provider={name},colour=red -n {self.second} web1")
        (volume,) = volumes.glob("*.disk0")
        self.assertEqual((volume.stat().st_size, len(attached_to(volume))), (16 << 20, 1))
        self.cluster.ok("gnt-instance grow-disk --ignore-ipolicy web1 0 16m")
        (device,) = attached_to(volume)
        with open(device, "rb") as opened:
            self.assertEqual(opened.seek(0, os.SEEK_END), 32 << 20)
        self.cluster.ok(f"gnt-instance failover -f --ignore-ipolicy -n {self.cluster.layout.nodes[2].name} web1")
        self.cluster.ok("gnt-cluster verify")
        self.cluster.ok("gnt-instance shutdown web1")
        self.assertEqual(attached_to(volume), [])
        self.cluster.ok("gnt-instance remove --force web1")
        self.assertEqual([path.name for path in volumes.iterdir()], ["told"])
        self.assertEqual(told(volumes)[0][:2], ["create", "EXTP_COLOUR=red"])

    def test_adopted(self) -> None:
        """A device becomes an instance's disk as it is, and is left when the instance goes."""
        device = attach(self.directory / "file", 16)
        self.addCleanup(detach, device)
        path = Path("/dev/disk") / f"by-{self.directory.name}" / "lun0"
        path.parent.mkdir(parents=True)
        self.addCleanup(path.parent.rmdir)
        path.symlink_to(device)
        self.addCleanup(path.unlink)
        with open(device, "r+b") as opened:
            opened.write(b"data".ljust(512))
        add = f"{ADD} -t blockdev --disk 0:adopt={path} -n {self.second}"
        self.cluster.ok(f"{add} web2")
        status, _, err = self.cluster.run(f"{add} web3".split())
        self.assertEqual(status, 1)
        self.assertIn(f"{path} cannot be adopted: it is instance web2's", err)
        shown = self.cluster.ok("gnt-instance list --no-headers -o disk_template,disk.sizes,status web2")
        self.assertEqual(shown.split(), ["blockdev", "16", "running"])
        self.cluster.ok("gnt-instance remove --force web2")
        with open(device, "rb") as opened:
            self.assertEqual(opened.read(4), b"data")
