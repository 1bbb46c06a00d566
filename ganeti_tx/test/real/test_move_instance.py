"""An instance goes from one cluster of real processes to another."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import attrs
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.keys import utc_now
from ganeti_tx.rapi_client import Client, ClientError
from ganeti_tx.runtime.cluster_authority import rapi_bundle, signing_authority
from ganeti_tx.test.real.programs import LIMIT, SOURCE, until
from ganeti_tx.test.real.rapi_cluster import USERS, WRITER, RapiCluster

MIB = 1 << 20
SIZES = (8, 4)
OS = "dumper"
FILES = {
    "ganeti_api_version": "20\n",
    "parameters.list": "word which nobody may see\n",
    "create": "#!/bin/sh\n",
    "verify": "#!/bin/sh\n",
    "rename": '#!/bin/sh\necho "was $OLD_INSTANCE_NAME"\n',
    "export": "#!/bin/bash\nstat -c %s $EXPORT_DEVICE >&$EXP_SIZE_FD\nexec dd if=$EXPORT_DEVICE bs=1M\n",
    "import": "#!/bin/bash\nexec dd of=$IMPORT_DEVICE bs=1M conv=notrunc\n",
}
#: Small instances are wanted.
POLICY = (
    "min:cpu-count=1,disk-count=0,disk-size=1,memory-size=1,nic-count=0,spindle-use=1"
    "/max:cpu-count=8,disk-count=16,disk-size=1T,memory-size=32G,nic-count=8,spindle-use=12"
)
ADD = "add -t file --disk 0:size=8M,name=root --disk 1:size=4M --no-name-check --no-ip-check --ignore-ipolicy -B memory=128M"


class MoveInstanceTests(SynchronousTestCase):
    """Two clusters of one node each."""

    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory(prefix="gtxmove")
        self.addCleanup(self.directory.cleanup)
        self.clusters = []
        for _ in range(2):
            cluster = RapiCluster()
            self.addCleanup(cluster.close)
            self.clusters.append(cluster)
            self.certify(cluster)
            directory = cluster.cluster.node.root / "srv/ganeti/os" / OS
            directory.mkdir(parents=True)
            for name, text in FILES.items():
                (directory / name).write_text(text)
                (directory / name).chmod(0o755)
        self.source, self.destination = self.clusters
        with (self.destination.cluster.node.root / "etc/hosts").open("a") as hosts:
            hosts.write("192.0.2.2 web2.example.com web2\n")
        self.destination.cluster.must("gnt-cluster", "modify", f"--ipolicy-bounds-specs={POLICY}")
        self.password = Path(self.directory.name) / "password"
        self.password.write_text(f"{WRITER.password}\nsomething else\n")

    def certify(self, cluster: RapiCluster) -> None:
        """The names of clusters do not resolve here, so their certificates are for the addresses, too."""
        data, name = cluster.cluster.node.root / "var/lib/ganeti", cluster.cluster.layout.cluster_name
        key, trusted = (data / "ca.key").read_bytes(), (data / "ca.pem").read_bytes()
        authority = signing_authority(trusted, key, "ca.key")
        fresh = cluster.bundle.with_name("rapi.pem.new")
        fresh.write_bytes(rapi_bundle(authority, name, cluster.address, utc_now()))
        fresh.replace(cluster.bundle)
        until(lambda: self.is_known(cluster), "the new certificate")

    def is_known(self, cluster: RapiCluster) -> bool:
        """Whether it shows the new certificate."""
        with Client(attrs.evolve(cluster.server(), name=None)) as client:
            try:
                return client.get_version() == 2
            except ClientError:
                return False

    def move(self, *words: str) -> tuple[int, str, str]:
        """Run the program, which knows nothing of the clusters but their addresses."""
        files = [f"--src-ca-file={self.source.bundle}", f"--dest-ca-file={self.destination.bundle}"]
        login = [f"--src-username={WRITER.user}", f"--src-password-file={self.password}"]
        addresses = [each.address for each in self.clusters]
        argv = [sys.executable, "-m", "ganeti_tx.move_instance.main", *files, *login, *words]
        done = subprocess.run(
            [*argv, *addresses, "web1"],
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "PYTHONPATH": str(SOURCE)},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def instances(self, cluster: RapiCluster) -> str:
        """Those that there are, and whether they run."""
        return cluster.cluster.must(
            "gnt-instance", "list", "--no-headers", "--separator=|", "-o", "name,status,be/maxmem"
        )

    def disks(self, cluster: RapiCluster, name: str) -> list[Path]:
        """The files of an instance's disks, in their order."""
        told = cluster.cluster.must("gnt-instance", "activate-disks", name).splitlines()
        return [Path(line.split(":", 2)[2]) for line in told]

    def left(self) -> list[Path]:
        """Keys and transfers that lie in either cluster."""
        roots = [cluster.cluster.node.root / "var/run/ganeti" for cluster in self.clusters]
        return [path for root in roots for name in ("crypto", "import-export") for path in (root / name).glob("*")]

    def share_secret(self) -> None:
        """As an administrator does."""
        secret = self.source.cluster.node.root / "var/lib/ganeti/cluster-domain-secret"
        self.destination.cluster.must("gnt-cluster", "renew-crypto", "-f", f"--cluster-domain-secret={secret}")

    def test_moved(self) -> None:
        """Only between clusters that share a secret; then all of it is there, packed on its way, and gone here."""
        node = self.destination.cluster.node.name
        self.source.cluster.must("gnt-instance", *ADD.split(), "-o", OS, "-n", self.source.cluster.node.name, "web1")
        content = [os.urandom(size * MIB) for size in SIZES]
        for path, data in zip(self.disks(self.source, "web1"), content, strict=True):
            path.write_bytes(data)
        words = (
            "-v",
            "--compress=gzip",
            f"--dest-primary-node={node}",
            "--dest-instance-name=web2",
            "-B",
            "memory=256M",
        )
        status, out, err = self.move(*words)
        self.assertEqual(status, 1, err)
        self.assertRegex(out + err, "web1: failed: job .*do not share the secret of their domain")
        self.assertEqual(self.instances(self.source), "web1|running|128\n")
        self.assertEqual(self.instances(self.destination), "")
        self.share_secret()
        status, out, err = self.move(*words)
        self.assertEqual((status, out), (0, "web1: success\n"), err)
        self.assertIn("web1: sending the disks\n", err)
        self.assertEqual(self.instances(self.source), "")
        self.assertEqual(self.instances(self.destination), "web2.example.com|running|256\n")
        after = [path.read_bytes() for path in self.disks(self.destination, "web2")]
        self.assertEqual([a == b for a, b in zip(after, content, strict=True)], [True, True])
        self.assertEqual(self.left(), [self.left()[0]] if self.left() else [])
        self.assertEqual([path.parent.name for path in self.left()], ["crypto"])  # of the move that was refused
        self.assertEqual(list((self.source.cluster.node.root / "srv/ganeti/file-storage").rglob("*.file*")), [])
        logs = list((self.destination.cluster.node.root / "var/log/ganeti/os").glob("rename-*"))
        self.assertEqual(["was web1" in path.read_text() for path in logs], [True])
        for cluster in self.clusters:
            self.assertNotIn("ERROR", cluster.cluster.must("gnt-cluster", "verify"))
        self.assertNotIn(USERS.split()[1], err)
