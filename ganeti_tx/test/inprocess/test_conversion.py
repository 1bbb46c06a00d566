"""gnt-instance modify -t: other disks with the same content."""

from collections.abc import Iterator

from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.transfer import ImportStart
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster

ADD = (
    "gnt-instance add -t file --disk 0:size=128M,name=root --disk 1:size=64M,mode=ro -o noop -H fake --ignore-ipolicy"
    " --no-start -n node2 web1"
)
#: Each way round, by what is said of the new template.
WAYS = (
    "sharedfile",
    "ext -e provider=shelf",
    "rbd",
    "file",
    "drbd -n node3",
    "ext -e provider=shelf",
    "rbd",
    "drbd -n node1",
    "file",
)


class ConversionTests(EachCallCase):
    """Every node has a driver for each template."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, _ = mirrored_cluster(seed=seed)
        self.addCleanup(cluster.end)
        return cluster

    def setUp(self) -> None:
        super().setUp()
        self.enable()

    def enable(self) -> None:
        """All templates that new disks can be of."""
        words = "file,sharedfile,diskless,drbd,ext,rbd"
        self.ok(f"gnt-cluster modify --enabled-disk-templates {words},blockdev --ipolicy-disk-templates {words}")

    def disks(self) -> Iterator[FakeDisk]:
        """All that hold something."""
        shared = self.cluster.node(1).shared
        for disks in (shared.files, shared.external.volumes, shared.ceph.images()):
            yield from disks.values()
        for node in self.cluster.members:
            yield from node.files_storage.disks.values()
            if node.mirror_node is not None:
                yield from node.mirror_node.volumes.disks.values()

    def written(self) -> set[str]:
        """What is found on disks."""
        return {disk.content for disk in self.disks() if disk.content}

    def made(self) -> None:
        """An instance with two disks, on which there is something."""
        self.ok(ADD)
        for disk in self.cluster.node(2).files_storage.disks.values():
            disk.content = f"{disk.size} MiB of data"

    def test_every_way(self) -> None:
        """What was on the disks is on the new ones, which are like the old ones, and of those nothing is left."""
        self.made()
        for way in WAYS:
            self.ok(f"gnt-instance modify --ignore-ipolicy -t {way} web1")
            word = way.split()[0]
            with self.subTest(way):
                self.assertEqual(self.written(), {"128 MiB of data", "64 MiB of data"}, way)
                self.assertEqual(disagreements(self.cluster), [])
                disks = [self.cluster.config.disks[uuid] for uuid in self.instance().disks]
                self.assertEqual(len(self.cluster.config.disks), 2)
                self.assertEqual(
                    [(each.size, each.name, each.mode) for each in disks], [(128, "root", "rw"), (64, None, "ro")]
                )
                self.assertEqual({each.dev_type for each in disks}, {DiskTemplate(word)})
                self.assertEqual([node.transfers.ends for node in self.cluster.members], [{}, {}, {}])
                self.ok("gnt-instance startup web1")
                self.ok("gnt-instance shutdown web1")

    def instance(self) -> Instance:
        """The only one."""
        (instance,) = self.cluster.config.instances.values()
        return instance

    def test_told(self) -> None:
        """As Ganeti tells it."""
        self.made()
        lines = self.ok("gnt-instance modify --ignore-ipolicy -t sharedfile web1").splitlines()
        self.assertEqual(
            [line[25:] for line in lines if line.startswith("Tue ") and "WARNING" not in line],
            [
                "Converting disk template from 'file' to 'sharedfile'",
                "Generating new 'sharedfile' disk template...",
                "* disk 0, size 128M",
                "* disk 1, size 64M",
                "Creating new empty disks of type 'sharedfile'...",
                "Populating the new empty disks of type 'sharedfile'...",
                " - copying data from disk 0 (file), size 128M",
                " - copying data from disk 1 (file), size 64M",
                "Detaching old disks (file) from the instance and removing them from cluster config",
                "Adding new disks (sharedfile) to cluster config and attaching them to the instance",
                " - INFO: Waiting for instance web1.example.com to sync disks",
                " - INFO: Instance web1.example.com's disks are in sync",
                "Removing old block devices of type 'file'...",
            ],
        )
        self.assertEqual(lines[-3:-1], ["Modified instance web1", " - disk_template -> sharedfile"])

    def test_node_lost(self) -> None:
        """When its node is lost the half-filled shared files go all the same; what stays on the node is told once."""
        self.made()
        shared = self.cluster.node(1).shared

        def fault(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, ImportStart) and shared.files:
                self.cluster.time.callLater(0.05, self.cluster.node(2).stop)
                self.cluster.network.fault = None

        self.cluster.network.fault = fault
        job_id = self.scene().submit("gnt-instance modify --submit --ignore-ipolicy -t sharedfile web1")
        self.cluster.pass_time(100)
        self.assertEqual((shared.files, self.statuses(job_id)), ({}, ["error"]))
        told = [str(entry[3]) for entry in self.job(job_id).ops[0].log]
        self.assertEqual(len([text for text in told if "could not undo" in text]), 1, told)
        self.cluster.node(2).start()
        self.assertEqual({disk.dev_type for disk in self.cluster.config.disks.values()}, {DiskTemplate.FILE})

    def test_refused(self) -> None:
        """Nothing is changed when it cannot be."""
        self.made()
        self.ok("gnt-instance add -t file -s 1G -o noop -H fake -n node2 web2")
        self.ok("gnt-instance add -t diskless -o noop -H fake --no-install -n node2 web3")
        before = self.cluster.config
        for line, reason in (
            ("-t file web1", "wrong_input.*\n.*Instance already has disk template file"),
            ("-t diskless web1", "wrong_input.*\n.*Conversion to the 'diskless' disk template is not supported"),
            ("-t blockdev web1", "wrong_input.*\n.*Conversion to the 'blockdev' disk template is not supported"),
            ("-t plain web1", "wrong_state.*\n.*Disk template 'plain' is not enabled for this cluster"),
            (
                "-t sharedfile web2",
                "wrong_state.*\n.*'web2.example.com' is marked to be up, cannot change disk template",
            ),
            ("-t file web3", "wrong_state.*\n.*has no disks"),
            ("-t drbd web1", "wrong_input.*\n.*needs a secondary node"),
            ("-t drbd -n node2 web1", "wrong_state.*\n.*node2.example.com cannot be the primary and the secondary"),
            ("-t drbd -n nosuch web1", "unknown_entity.*\n.*nosuch"),
            ("-t sharedfile -n node3 web1", "wrong_input.*\n.*have no secondary node"),
            ("-t ext web1", "wrong_input.*\n.*needs a provider; give provider in ext_params"),
            ("-t ext -e provider=shelf,size=1 web1", "wrong_input.*\n.*size stays as it is"),
            ("-t ext -e provider=nosuch web1", "nosuch"),
            ("-t sharedfile -e provider=shelf web1", "wrong_input.*\n.*ext_params do not go with template sharedfile"),
            ("-t ext -e provider=shelf --file-driver loop web1", "wrong_input.*\n.*file_driver"),
            ("-t sharedfile --file-storage-dir /etc web1", "wrong_input.*\n.*'/etc' must be a path below"),
            ("-t sharedfile --disk 0:mode=ro web1", "wrong_input.*\n.*cannot be asked for at once"),
        ):
            with self.subTest(line):
                self.fails(f"gnt-instance modify --ignore-ipolicy {line}", reason)
                self.assertIs(self.cluster.config, before)

    def test_each_call(self) -> None:
        """Whatever call goes wrong, or ends the job: all is as before, or as wanted."""

        def is_converted(cluster: InProcessCluster) -> bool:
            return {disk.dev_type for disk in cluster.config.disks.values()} == {DiskTemplate.SHAREDFILE}

        operation = Operation(
            "gnt-instance modify --ignore-ipolicy -t sharedfile web1", (ADD,), done=is_converted, partly=True
        )
        self.check_troubles(operation)
        self.check_ended(operation, self.kill)
        self.check_ended(operation, self.cancel)
