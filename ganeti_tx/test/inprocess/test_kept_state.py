"""What nodes keep of instances beside their disks goes along when these move, and is never lost without a word."""

from pathlib import Path
from typing import Any

from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM
from ganeti_tx.node.hypervisor.kvm.firmware import IMAGES, PLAIN
from ganeti_tx.node.hypervisor.kvm.tpm import PROGRAM
from ganeti_tx.rpc.calls.kept import InstanceKeep, InstanceKept
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster
from ganeti_tx.test.inprocess.network import Says

ADD = "gnt-instance add --no-install --no-start -o noop -H kvm:kernel_path=,uefi=true,tpm=true,security_model=none"
SECRET = "what only the TPM knows"
KEPT = {"variables.fd": b"boot entries", "tpm/tpm2-00.permall": SECRET.encode()}
NAME = "web1.example.com"


class KeptStateTests(ClusterCase):
    """An instance under KVM that is down; its node has what its firmware and its TPM have written."""

    def new_cluster(self, seed: int = 0) -> Any:
        """With mirrors, and all that KVM asks for on each node."""
        cluster, _ = mirrored_cluster()
        self.addCleanup(cluster.end)
        for node in cluster.members:
            for path in (Path(DEFAULT_PROGRAM), Path(PROGRAM), *(IMAGES / name for name in PLAIN)):
                put(node.disk, path, b"")
        return cluster

    def made(self, how: str) -> None:
        """It is there, and so is what is kept of it."""
        self.ok("gnt-cluster modify --enabled-hypervisors=fake,kvm -H kvm:kernel_path=")
        self.ok(f"{ADD} {how} --ignore-ipolicy -s 128M web1")
        for name, data in KEPT.items():
            put(self.cluster.node(2).disk, self.directory / name, data)

    @property
    def directory(self) -> Path:
        """Where it is kept."""
        (instance,) = self.cluster.config.instances.values()
        return self.cluster.paths.kvm_firmware_dir / instance.uuid

    def kept(self, number: int) -> dict[str, bytes]:
        """What a node has."""
        disk = self.cluster.node(number).disk
        places = [self.directory, self.directory / "tpm"]
        paths = [place / name for place in places if disk.exists(place) for name in disk.listdir(place)]
        return {str(path.relative_to(self.directory)): disk.read(path, 99) for path in paths if path.name != "tpm"}

    def test_failover(self) -> None:
        """To its other node and back; no job tells of what it is."""
        self.made("-t drbd -n node2:node3")
        self.ok("gnt-instance failover -f web1")
        self.assertEqual((self.kept(2), self.kept(3)), ({}, KEPT))
        self.ok("gnt-instance failover -f web1")
        self.assertEqual((self.kept(2), self.kept(3)), (KEPT, {}))
        for path, content in self.cluster.master.disk.contents().items():
            self.assertNotIn(SECRET, str(content), path)

    def test_move(self) -> None:
        """With disks that are copied."""
        self.ok("gnt-cluster modify --enabled-disk-templates=file,plain,drbd,diskless")
        self.made("-t file -n node2")
        self.ok("gnt-instance move -f -n node3 web1")
        self.assertEqual((self.kept(2), self.kept(3)), ({}, KEPT))

    def test_new_primary(self) -> None:
        """An administrator who has brought the disks to another node need not know of it; a node that is gone is told of."""
        self.made("-t drbd -n node2:node3")
        self.ok("gnt-instance modify --new-primary=node3 web1")
        self.assertEqual((self.kept(2), self.kept(3)), ({}, KEPT))
        self.cluster.node(3).stop()
        self.ok("gnt-node modify --force --offline=yes node3")
        said = self.ok("gnt-instance modify --new-primary=node2 --force web1")
        self.assertRegex(said, "is not brought along .node node3.example.com is offline.")

    def test_recreated(self) -> None:
        """Disks that are made anew elsewhere take it along."""
        self.ok("gnt-cluster modify --enabled-disk-templates=file,plain,drbd,diskless")
        self.made("-t file -n node2")
        self.ok("gnt-instance recreate-disks -n node3 web1")
        self.assertEqual((self.kept(2), self.kept(3)), ({}, KEPT))

    def test_other_parameters(self) -> None:
        """What is there goes along, and goes with the instance, though its parameters say nothing of that any more."""
        self.made("-t drbd -n node2:node3")
        self.ok("gnt-instance modify -H uefi=false,tpm=false web1")
        self.ok("gnt-instance failover -f web1")
        self.assertEqual((self.kept(2), self.kept(3)), ({}, KEPT))
        put(self.cluster.node(1).disk, self.directory / "variables.fd", b"left by a move that broke off")
        directory = self.directory
        _, said, _ = self.scene().run(["gnt-cluster", "verify"])
        self.assertRegex(said, "WARNING: instance web1.example.com: node node1.example.com keeps firmware variables")
        self.assertNotIn("node node3.example.com keeps", said)
        self.ok("gnt-instance remove -f web1")
        for member in self.cluster.members:
            self.assertFalse(member.disk.exists(directory))

    def test_fails(self) -> None:
        """What cannot be brought along keeps the instance where it was, with all that it has; unless that is to be ignored."""
        self.made("-t drbd -n node2:node3")
        for kind in (InstanceKept, InstanceKeep):
            self.cluster.network.fault = lambda node, call, kind=kind: Says("full") if isinstance(call, kind) else None
            self.fails("gnt-instance failover -f web1", "could not bring what the firmware and the TPM .*full")
            self.assertEqual((self.kept(2), self.kept(3)), (KEPT, {}))
            self.assertEqual(self.cluster.running(), {})
        self.assertRegex(self.ok("gnt-instance failover -f --ignore-consistency web1"), "is not brought along .*full")
        self.assertEqual((self.kept(2), self.kept(3)), (KEPT, {}))

    def test_dead(self) -> None:
        """A node that is gone has taken it with it, and it is said what that means."""
        self.made("-t drbd -n node2:node3")
        self.cluster.node(2).stop()
        self.ok("gnt-node modify --force --offline=yes node2")
        said = self.ok("gnt-instance failover -f --ignore-consistency web1")
        self.assertRegex(said, "is not brought along .node node2.example.com is offline.: it begins with nothing;")

    def test_dead_with_remnant(self) -> None:
        """What the other node still has from an earlier time is more than nothing: the instance begins with it, which is told."""
        self.made("-t drbd -n node2:node3")
        put(self.cluster.node(3).disk, self.directory / "variables.fd", b"older")
        self.cluster.node(2).stop()
        self.ok("gnt-node modify --force --offline=yes node2")
        said = self.ok("gnt-instance failover -f --ignore-consistency web1")
        self.assertRegex(said, "it begins with what node node3.example.com has from an earlier time, which is older;")
        self.assertEqual(self.kept(3), {"variables.fd": b"older"})
