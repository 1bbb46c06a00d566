"""Instances of what is there already: block devices, which stay, and volumes, which get the standard name."""

from typing import Any

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BdevSizes, BlockdevStates
from ganeti_tx.test.fakes.storage import FakeDisk
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation
from ganeti_tx.test.inprocess.network import Says
from ganeti_tx.test.inprocess.test_each_call import is_there

NAME = "web1"
ENABLE = (
    "gnt-cluster modify --enabled-disk-templates file,diskless,blockdev --ipolicy-disk-templates file,diskless,blockdev"
)
DEVICE = "/dev/disk/by-id/lun0"
ADD = f"gnt-instance add -t blockdev --disk 0:adopt={DEVICE} -o noop -n node2 --no-name-check --no-ip-check web1"

VOLUME = Operation(
    "gnt-instance add -t plain --disk 0:adopt=old -o noop -H fake -n node2 --ignore-ipolicy web1",
    before=(
        "gnt-cluster modify --enabled-disk-templates plain,drbd,file,diskless --ipolicy-disk-templates"
        " plain,drbd,file,diskless",
    ),
    mirrored=True,
    done=is_there,
)


def submitted(line: str, name: str) -> str:
    """The same for an instance of another name, not waited for."""
    return f"{line.replace(' add ', ' add --submit ', 1).rpartition(' ')[0]} {name}"


class DeviceCase(EachCallCase):
    """All nodes see two devices."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `EachCallCase`."""
        cluster = super().new_cluster(seed)
        for number in (0, 1):
            cluster.shared.add_device(f"/dev/disk/by-id/lun{number}", 2048)
        return cluster


class BlockDeviceTests(DeviceCase):
    """The template blockdev."""

    def verified(self, *options: str) -> str:
        """What verification, which fails, says."""
        status, out, err = self.scene().run(["gnt-cluster", "verify", *options])
        self.assertEqual(status, 1)
        return out + err

    def test_life(self) -> None:
        """The device is the disk as it is, runs without an installation, and stays when the instance goes."""
        self.fails(ADD, "not enabled")
        self.ok(ENABLE)
        out = self.ok(ADD)
        self.assertNotIn("OS create scripts", out)
        shown = self.ok("gnt-instance list --no-headers -o name,disk_template,disk.size/0,status,snodes")
        self.assertEqual(shown.split()[1:], ["blockdev", "2.0G", "running"])
        self.assertIn(DEVICE, self.ok("gnt-instance info web1"))
        self.fails(ADD.replace("web1", "web2"), f"it is instance {NAME}'s")
        self.ok("gnt-cluster verify")
        self.ok("gnt-instance shutdown web1")
        self.ok("gnt-instance startup web1")
        self.ok("gnt-instance remove --force web1")
        self.assertEqual(self.cluster.shared.devices[f"manual/{DEVICE}"].size, 2048)
        self.assert_nothing_left(self.cluster)

    def test_both_at_once(self) -> None:
        """Of two instances that adopt it at the same time one gets it, and of the other nothing is left."""
        self.ok(ENABLE)
        jobs = [self.scene().submit(submitted(ADD, name)) for name in ("web1", "web2")]
        self.cluster.pass_time(60)
        self.assertEqual(sorted(self.statuses(*jobs)), ["error", "success"])
        self.assertEqual(len(self.cluster.config.instances), 1)
        self.assert_agreed(self.cluster, "after both")

    def test_second_name(self) -> None:
        """Verification tells of a device that two instances have, by two names."""
        self.ok(ENABLE)
        self.ok(ADD)
        self.ok(ADD.replace("lun0", "lun1").replace("node2", "node3").replace("web1", "web2"))
        self.ok("gnt-cluster verify")
        devices = self.cluster.shared.devices
        devices["manual//dev/disk/by-id/lun1"] = devices[f"manual/{DEVICE}"]
        out = self.ok("gnt-cluster verify --error-codes")
        for one, other in (("web1", "web2"), ("web2", "web1")):
            self.assertRegex(
                out,
                rf"WARNING:EINSTANCEFAULTYDISK:instance:{one}:disk/0 is on the same storage as disk/0 of instance {other}"
                rf" \(device .* of node node1.example.com\): .* --disk 0:remove {one}' takes the disk away",
            )
        asked: list[str] = []

        def fault(node: str, call: NodeCall[Any]) -> Says | None:
            asked.append(call.name)
            return Says("no") if (node, call.name) == ("node1.example.com", BlockdevStates.name) else None

        self.cluster.network.fault = fault
        self.assertIn("- ERROR: node node1.example.com: while getting disk information: no", self.verified())
        self.assertNotIn(BdevSizes.name, asked, "which opens each device as if it were its own")

    def test_gone(self) -> None:
        """Verification tells of a device that is there no longer."""
        self.ok(ENABLE)
        self.ok(ADD)
        del self.cluster.shared.devices[f"manual/{DEVICE}"]
        self.assertIn(f"Can't find device {DEVICE}", self.verified())

    def test_each_call(self) -> None:
        """Whatever fails, and wherever the job is ended, nothing is half made."""
        operation = Operation(ADD, before=(ENABLE,), done=is_there)
        self.check_troubles(operation)
        self.check_ended(operation, self.kill)
        self.check_ended(operation, self.cancel)


class VolumeTests(EachCallCase):
    """The template plain, with volumes in memory."""

    def volumes(self, cluster: InProcessCluster) -> dict[str, FakeDisk]:
        """Those of the node."""
        node = cluster.node(2).mirror_node
        assert node is not None
        return node.volumes.disks

    def prepared(self, operation: Operation) -> InProcessCluster:
        """See `EachCallCase`: there is a volume that nobody has."""
        cluster = super().prepared(operation)
        self.volumes(cluster)["xenvg/old"] = FakeDisk(64, content="data")
        return cluster

    def faults(self, cluster: InProcessCluster) -> list[str]:
        """See `EachCallCase`; nothing is lost, and what is nobody's has its former name."""
        found = [fault for fault in super().faults(cluster) if "xenvg/old is nobody's" not in fault]
        contents = [disk.content for disk in self.volumes(cluster).values()]
        return found if contents == ["data"] else [*found, f"on the volumes is {contents}"]

    def test_renamed(self) -> None:
        """The volume is the instance's, under the standard name, with what is on it."""
        self.prepared(VOLUME)
        self.ok(VOLUME.line)
        (disk,) = self.cluster.config.disks.values()
        self.assertEqual(list(self.volumes(self.cluster)), [f"xenvg/{disk.uuid}.disk0"])
        self.assertEqual((disk.size, len(disk.nodes)), (64, 1))
        self.assert_agreed(self.cluster, "after it")

    def test_both_at_once(self) -> None:
        """Of two instances that adopt it at the same time one gets it, with what is on it."""
        for delay in (0.0, 0.004, 0.02):
            cluster = self.prepared(VOLUME)
            one = self.scene().submit(submitted(VOLUME.line, "web1"))
            cluster.pass_time(delay)
            other = self.scene().submit(submitted(VOLUME.line, "web2"))
            cluster.pass_time(60)
            self.assertEqual(sorted(self.statuses(one, other)), ["error", "success"])
            self.assertEqual([each.content for each in self.volumes(cluster).values()], ["data"])
            self.assert_agreed(cluster, f"after both, {delay:g} s apart")

    def test_marked(self) -> None:
        """The volume carries the instance's name: that of the one which adopts it, and a new name; and of who attaches it."""
        self.prepared(VOLUME)
        self.ok(VOLUME.line)
        [volume] = self.volumes(self.cluster).values()
        self.assertEqual(volume.owner, "originstname+web1.example.com")
        self.ok("gnt-instance shutdown web1")
        self.ok("gnt-instance rename web1 web2")
        self.assertEqual(volume.owner, "originstname+web2.example.com")
        [disk] = self.cluster.config.disks.values()
        self.ok("gnt-instance modify --disk 0:detach web2")
        self.ok("gnt-instance add -t diskless -o noop -H fake -n node2 --no-start --ignore-ipolicy web3")
        self.ok(f"gnt-instance modify --ignore-ipolicy --disk attach:uuid={disk.uuid} web3")
        self.assertEqual(volume.owner, "originstname+web3.example.com")

    def test_each_call(self) -> None:
        """Whatever fails, and wherever the job is ended, the volume is the instance's or has its former name."""
        self.check_troubles(VOLUME)
        self.check_ended(VOLUME, self.kill)
        self.check_ended(VOLUME, self.cancel)
