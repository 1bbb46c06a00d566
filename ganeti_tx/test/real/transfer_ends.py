"""Both ends of transfers as processes of this machine."""

import os
from datetime import timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from twisted.internet import reactor as installed_reactor
from twisted.internet.task import deferLater
from twisted.python.filepath import FilePath
from twisted.trial.unittest import TestCase

from ganeti_tx.bootstrap.keys import new_cluster_keys, node_keys, utc_now
from ganeti_tx.node.transfer.processes import TransferProcesses
from ganeti_tx.node.transfer.spec import Spec
from ganeti_tx.runtime.certificates import Identity, transfer_identity
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.contracts.transfer import MAGIC, NODE1, NODE2, TransferScene

reactor: Any = installed_reactor
SIZE = 5


class TransferEnds(TransferScene, TestCase):
    """Two nodes, with files for disks."""

    timeout = 300

    def setUp(self) -> None:
        self.top = Path(mkdtemp(prefix="transfer"))
        self.addCleanup(FilePath(str(self.top)).remove)
        authority, first = new_cluster_keys("cluster.example.com", NODE1, ["127.0.0.1"])
        second = node_keys(authority, NODE2, ["127.0.0.1"], first.shared)
        self.ends = {}
        self.known: dict[str, Identity] = {}
        self.paths = {}
        for node, keys in ((NODE1, first), (NODE2, second)):
            paths = self.paths[node] = Paths(self.top / node)
            paths.client_pem.parent.mkdir(parents=True)
            paths.client_pem.write_bytes(keys.client.bundle)
            paths.server_pem.write_bytes(keys.server.bundle)
            paths.authority_pem.write_bytes(keys.authority)
            files = RealFiles(reactor_threads(reactor))
            self.ends[node] = TransferProcesses(files, paths, ReactorProcessRunner(reactor, reactor), reactor)
        self.disk(NODE1).write_bytes(os.urandom(SIZE << 20))
        self.disk(NODE2).write_bytes(bytes(SIZE << 20))

        self.addCleanup(self.forget)

    async def forget(self) -> None:
        """No process is left."""
        for ends in self.ends.values():
            for name in ("disk0", "a", "b", "slow"):
                await ends.remove(name)

    def disk(self, node: str) -> Path:
        """Where it is."""
        return self.top / f"disk-{node}"

    def content(self, node: str) -> bytes:
        """See `TransferScene`."""
        return self.disk(node).read_bytes()

    async def pause(self) -> None:
        """See `TransferScene`."""
        await deferLater(reactor, 0.05)

    def spec(self, node: str, sends: bool) -> Spec:
        """See `TransferScene`."""
        paths, disk = self.paths[node], self.disk(node)
        reads, writes = (
            ["dd", "bs=1M", f"if={disk}"],
            ["dd", "bs=1M", "iflag=fullblock", "conv=nocreat,notrunc", f"of={disk}"],
        )
        return Spec(
            sends=sends,
            command=reads if sends else writes,
            filter=[],
            magic=MAGIC,
            host="127.0.0.1",
            port=0,
            peer=NODE2 if sends else NODE1,
            identity=str(paths.client_pem if sends else paths.server_pem),
            authority=str(paths.authority_pem),
            pins=str(paths.ssconf_file("node_certs")) if sends else "",
            connect_limit=20.0,
            size=SIZE,
        )

    def by_certificate(self, node: str) -> dict[str, Any]:
        """See `TransferScene`."""
        for name in {NODE1, NODE2} - self.known.keys():
            made = self.known[name] = transfer_identity(name, timedelta(hours=1), utc_now())
            (self.top / f"{name}.cert").write_bytes(made.certificate)
            (self.top / f"{name}.key").write_bytes(made.key)
        other = self.known[NODE1 if node == NODE2 else NODE2].certificate.decode()
        files = {"identity": str(self.top / f"{node}.cert"), "key": str(self.top / f"{node}.key")}
        return {**files, "authority": "", "pins": "", "certificate": other}
