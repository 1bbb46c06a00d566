"""Instances that could never be started are refused when they are made or changed."""

from pathlib import Path

from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

ADD = "gnt-instance add --no-install --no-start -o noop --no-ip-check --no-name-check -n node2"
SHOWN = "could not start it: a container needs a disk"


class UnfitTests(ClusterCase):
    """A cluster that has containers, too, whose driver is not asked for it."""

    def test_made(self) -> None:
        """One without the disk that it needs is not made."""
        for node in self.cluster.members:
            for path in (DEFAULT_PROGRAM, "/sys/fs/cgroup/cgroup.controllers"):
                put(node.disk, Path(path), b"")
        self.ok("gnt-cluster modify --enabled-hypervisors=fake,lxc,kvm -H kvm:kernel_path=")
        self.fails(f"{ADD} -H lxc -t diskless web1", f"wrong_input.*\n.*{SHOWN}")
        self.assertEqual(self.cluster.config.instances, {})
        self.fails(
            f"{ADD} -H kvm:memory_limit=200 -B memory=256M -t diskless web1",
            "wrong_input.*\n.*memory_limit: 200 MiB are less than the 256 MiB of the guest",
        )
        self.fails(
            f"{ADD} -H kvm:max_vcpus=2,max_memory=128 -B memory=256M,vcpus=3 -t diskless web1",
            "wrong_input.*\n.*max_memory: 128 is less than the 256 MiB.*max_vcpus: 2 is less than the 3 processors",
        )
        self.ok(f"{ADD} -H kvm:max_vcpus=2 -B memory=256M,vcpus=2 -t diskless web1")
        self.fails("gnt-instance modify -B vcpus=3 web1", "max_vcpus: 2 is less than the 3 processors")
        self.fails("gnt-instance modify -H max_memory=128 web1", "max_memory: 128 is less than the 256 MiB")

    def test_changed(self) -> None:
        """One that fits is not changed so that it would not."""
        self.ok("gnt-cluster modify --enabled-hypervisors=fake,lxc")
        self.ok(f"{ADD} -H lxc -t file -s 1G web1")
        before = self.cluster.config
        self.fails("gnt-instance modify --disk remove web1", SHOWN)
        self.assertIs(self.cluster.config, before)
        self.ok("gnt-instance modify -B memory=192M web1")
