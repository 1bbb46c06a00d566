"""Transfers that are only pretended keep the contract of the real ones."""

from pathlib import Path
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import TestCase

from ganeti_tx.node.transfer.spec import Spec
from ganeti_tx.test.contracts.transfer import MAGIC, NODE1, NODE2, TransferContract
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.transfers import FakeTransferEnds, TransferWire
from ganeti_tx.test.inprocess.disk import put


class FakeTransferTests(TransferContract, TestCase):
    """The contract, with disks in memory."""

    def setUp(self) -> None:
        self.clock, wire = Clock(), TransferWire(rate=10.0)
        self.disks = {NODE1: FakeDisk(5, content="the data"), NODE2: FakeDisk(5, content="nothing")}
        files = {node: MemoryFiles() for node in self.disks}
        for node, each in files.items():
            put(each, Path("/cert"), node.encode())
        self.ends = {
            node: FakeTransferEnds(node, wire, {"/disk": disk}.get, self.clock, files=files[node])
            for node, disk in self.disks.items()
        }

    def content(self, node: str) -> bytes:
        """See `TransferContract`."""
        return self.disks[node].content.encode()

    def by_certificate(self, node: str) -> dict[str, Any]:
        """See `TransferContract`."""
        other = NODE1 if node == NODE2 else NODE2
        return {"identity": "/cert", "key": "/key", "certificate": other}

    async def pause(self) -> None:
        """See `TransferContract`."""
        self.clock.advance(0.05)

    def spec(self, node: str, sends: bool) -> Spec:
        """See `TransferContract`."""
        return Spec(
            sends=sends,
            command=["dd", "if=/disk" if sends else "of=/disk"],
            filter=[],
            magic=MAGIC,
            host="192.0.2.2",
            port=0,
            peer=NODE2 if sends else NODE1,
            identity="",
            authority="",
            connect_limit=20.0,
            size=5,
        )
