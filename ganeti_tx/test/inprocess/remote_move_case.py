"""Two clusters in one process between which an instance goes."""

from typing import Any

from ganeti_tx.errors import decode_error, error_text
from ganeti_tx.model.remote_moves import REMOTE_IMPORT, DomainSecret
from ganeti_tx.queue.job import QueuedJob, decode_job
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.commands import DrivingClient
from ganeti_tx.test.inprocess.disk import put

SECRET = DomainSecret("shared-by-two")
NAME, NEW = "web1.example.com", "web2.example.com"
ADD = "gnt-instance add -t file --disk 0:size=128M --disk 1:size=64M -o noop --ignore-ipolicy -n node2 web1"
DAY = 86400.0


class RemoteMoveCase(ClusterCase):
    """Two clusters with one time that share a secret; in the first there is an instance with two disks on node2."""

    def setUp(self) -> None:
        super().setUp()
        source = self.cluster
        self.other = InProcessCluster(3, 1, time=source.time, transfer_wire=source.transfer_wire)
        self.addCleanup(self.other.end)
        for cluster in (source, self.other):
            self.share(cluster, SECRET.value)

    def tearDown(self) -> None:
        super().tearDown()
        self.assert_nothing_held(self.other)

    def share(self, cluster: InProcessCluster, secret: str) -> None:
        """Give a cluster a secret."""
        put(cluster.master.disk, cluster.paths.cluster_domain_secret, f"{secret}\n".encode(), 0o640)

    def made(self, line: str = ADD) -> None:
        """The instance is there, and something is on its disks."""
        self.ok(line)
        for number, disk in enumerate(self.cluster.node(2).files_storage.disks.values()):
            disk.content = f"what was on disk {number}"

    def submit(self, cluster: InProcessCluster, kind: str, **parameters: Any) -> int:
        """Begin a job."""
        client = DrivingClient(cluster)
        self.addCleanup(client.close)
        return int(client.submit_job([{"OP_ID": kind, "reason": [], **parameters}]))

    def job_of(self, cluster: InProcessCluster, job_id: int) -> QueuedJob:
        """As its file has it."""
        return decode_job(cluster.master.disk.read(cluster.paths.job_file(job_id), 1 << 20))

    def prepared(self, **more: Any) -> dict[str, Any]:
        """What the source gives for the destination."""
        job_id = self.submit(self.cluster, "OP_BACKUP_PREPARE", instance_name="web1", mode="remote", **more)
        self.cluster.pass_time(10)
        job = self.job_of(self.cluster, job_id)
        self.assertEqual(job.status.value, "success", job.ops[0].result)
        found: dict[str, Any] = job.ops[0].result
        return found

    def create(self, given: dict[str, Any], **more: Any) -> int:
        """Begin at the destination."""
        parameters: dict[str, Any] = {
            "instance_name": NAME,
            "mode": "remote-import",
            "disk_template": "file",
            "disks": [{"size": 128}, {"size": 64}],
            "nics": [{}],
            "os_type": "noop",
            "pnode": "node3.example.com",
            "ignore_ipolicy": True,
            "ip_check": False,
            "start": False,
            "source_handshake": given["handshake"],
            "source_x509_ca": given["x509_ca"],
            "source_instance_name": NAME,
        }
        return self.submit(self.other, "OP_INSTANCE_CREATE", **{**parameters, **more})

    def listening(self, job_id: int) -> dict[str, Any]:
        """Where the destination listens, as its log tells."""
        for _ in range(300):
            self.other.pass_time(0.1)
            for entry in self.job_of(self.other, job_id).ops[0].log:
                if entry[2] == REMOTE_IMPORT:
                    found: dict[str, Any] = entry[3]
                    return found
        raise AssertionError(f"it does not listen: {self.job_of(self.other, job_id).ops[0]}")

    def export(self, given: dict[str, Any], told: dict[str, Any], **more: Any) -> int:
        """Begin at the source."""
        parameters = {
            "instance_name": NAME,
            "mode": "remote",
            "target_node": told["disks"],
            "destination_x509_ca": told["x509_ca"],
            "x509_key_name": given["x509_key_name"],
            "remove_instance": True,
        }
        return self.submit(self.cluster, "OP_BACKUP_EXPORT", **{**parameters, **more})

    def ended(self, cluster: InProcessCluster, job_id: int, seconds: float = 30) -> str:
        """How a job ended: with success, or why not."""
        cluster.pass_time(seconds)
        job = self.job_of(cluster, job_id)
        return "success" if job.status.value == "success" else error_text(decode_error(job.ops[0].result))

    def contents(self, cluster: InProcessCluster, number: int) -> list[str]:
        """What is on the disks of a node."""
        return [disk.content for disk in cluster.node(number).files_storage.disks.values()]

    def keys(self, cluster: InProcessCluster) -> list[str]:
        """The keys that lie on nodes, and the transfers."""
        return [
            name
            for node in cluster.members
            for directory in (cluster.paths.crypto_keys_dir, cluster.paths.import_export_dir)
            for name in node.disk.names(directory)
        ]

    def is_untouched(self, running: bool = False) -> None:
        """The source is as before, the destination empty."""
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]} if running else {})
        self.assertEqual([each.name for each in self.cluster.config.instances.values()], [NAME])
        self.assertEqual(disagreements(self.cluster), [])
        self.assert_nothing_left(self.other)
        self.assertEqual(disagreements(self.other), [])
