"""What both ends of a transfer do, whether they are processes or only pretended."""

from collections.abc import Callable
from typing import Any

import msgspec

from ganeti_tx.errors import OpExecError
from ganeti_tx.node.transfer.interfaces import ITransferEnds
from ganeti_tx.node.transfer.spec import Spec, Status

MAGIC = "0123456789abcdef"
NODE1, NODE2 = "node1.example.com", "node2.example.com"
#: Times that an end is looked at before it is given up: longer than it waits for the other one, and its process takes to begin.
LOOKS = 1000


class TransferScene:
    """`ends` has the two nodes' ends, `spec` makes what an end at a disk is told, `pause` lets time pass."""

    ends: dict[str, ITransferEnds]
    assertEqual: Callable[..., None]
    assertIn: Callable[..., None]
    assertIsNone: Callable[..., None]
    assertTrue: Callable[..., None]

    def spec(self, node: str, sends: bool) -> Spec:
        """What the end on a node is told, but for the port."""
        raise NotImplementedError

    def by_certificate(self, node: str) -> dict[str, Any]:
        """What the end on a node is told besides, if each is known by a certificate of its own and none by its name."""
        raise NotImplementedError

    async def pause(self) -> None:
        """Let some time pass."""
        raise NotImplementedError

    def content(self, node: str) -> bytes:
        """What is on the disk there."""
        raise NotImplementedError

    async def status(self, node: str, name: str) -> Status | None:
        """How far an end is."""
        found: Status | None = await self.ends[node].status(name)
        return found

    async def until(self, node: str, name: str, done: Callable[[Status], object]) -> Status:
        """Wait for something of an end."""
        for _ in range(LOOKS):
            status = await self.status(node, name)
            if status is not None and (done(status) or status.exit_status is not None):
                return status
            await self.pause()
        raise AssertionError(f"transfer {name} on {node} stays at {await self.status(node, name)}")

    async def ended(self, node: str, name: str) -> Status:
        """How an end ended."""
        return await self.until(node, name, lambda status: status.exit_status is not None)

    async def begin(
        self, name: str = "disk0", receiver: dict[str, Any] | None = None, sender: dict[str, Any] | None = None
    ) -> None:
        """Begin with both ends, as the master does; `receiver` and `sender` change what they are told."""
        told = msgspec.structs.replace(self.spec(NODE2, sends=False), **(receiver or {}))
        await self.ends[NODE2].start(name, told)
        port = (await self.until(NODE2, name, lambda status: status.listen_port)).listen_port
        told = msgspec.structs.replace(self.spec(NODE1, sends=True), port=port, **(sender or {}))
        await self.ends[NODE1].start(name, told)


class TransferContract(TransferScene):
    """What holds of all ends."""

    async def test_all_of_it(self) -> None:
        """What was on one disk is on the other, and both say so."""
        await self.begin()
        for node in (NODE1, NODE2):
            status = await self.ended(node, "disk0")
            self.assertEqual((status.exit_status, status.error_message, status.connected), (0, None, True))
            self.assertTrue(status.progress_mbytes)
        self.assertEqual(self.content(NODE2), self.content(NODE1))

    async def test_wrong_magic(self) -> None:
        """The bytes of another transfer fill no disk."""
        before = self.content(NODE2)
        await self.begin(sender={"magic": "another-magic"})
        self.assertIn("magic", (await self.ended(NODE2, "disk0")).error_message)
        self.assertTrue((await self.ended(NODE1, "disk0")).exit_status)
        self.assertEqual(self.content(NODE2), before)

    async def test_wrong_peer(self) -> None:
        """A node that is not the one does not get the disk, nor may it fill one."""
        before = self.content(NODE2)
        await self.begin(
            "a", sender={"peer": "node3.example.com", "connect_limit": 1.0}, receiver={"connect_limit": 2.0}
        )
        self.assertIn("cannot connect to node3.example.com", (await self.ended(NODE1, "a")).error_message)
        await self.begin("b", receiver={"peer": "node3.example.com", "connect_limit": 1.0})
        self.assertIn("node3.example.com has not connected", (await self.ended(NODE2, "b")).error_message)
        self.assertTrue((await self.ended(NODE1, "b")).exit_status)
        self.assertEqual(self.content(NODE2), before)

    async def test_nobody_comes(self) -> None:
        """Who waits for nobody gives up."""
        told = msgspec.structs.replace(self.spec(NODE2, sends=False), connect_limit=0.5)
        await self.ends[NODE2].start("disk0", told)
        self.assertIn("has not connected within", (await self.ended(NODE2, "disk0")).error_message)

    async def test_nobody_is_there(self) -> None:
        """Who finds nobody gives up."""
        told = msgspec.structs.replace(self.spec(NODE1, sends=True), port=1, connect_limit=0.5)
        await self.ends[NODE1].start("disk0", told)
        self.assertIn("cannot connect to node2.example.com", (await self.ended(NODE1, "disk0")).error_message)

    async def test_stopped(self) -> None:
        """One that is stopped has ended, and the other end knows."""
        await self.begin("slow", sender={"command": ["sleep", "60"]})
        await self.until(NODE2, "slow", lambda status: status.connected)
        await self.ends[NODE1].stop("slow")
        self.assertTrue((await self.ended(NODE1, "slow")).exit_status)
        self.assertTrue((await self.ended(NODE2, "slow")).exit_status)

    async def test_forgotten(self) -> None:
        """One that is removed is not there any more; doing it twice, or to none, is no error."""
        await self.begin("slow", sender={"command": ["sleep", "60"]})
        for name in ("slow", "slow", "never"):
            await self.ends[NODE2].remove(name)
            self.assertIsNone(await self.status(NODE2, name))
        self.assertTrue((await self.ended(NODE1, "slow")).exit_status)

    async def test_once(self) -> None:
        """A name is used once."""
        await self.begin()
        try:
            await self.ends[NODE1].start("disk0", self.spec(NODE1, sends=True))
        except OpExecError as error:
            self.assertIn("begun before", str(error))
        else:
            raise AssertionError("it began twice")

    async def test_held(self) -> None:
        """Who receives says farewell when it is told to; until then the other end does not know that all is there."""
        await self.begin(receiver={"holds": True})
        await self.until(NODE2, "disk0", lambda status: status.filled)
        self.assertEqual(self.content(NODE2), self.content(NODE1))
        for node in (NODE1, NODE2):
            status = await self.status(node, "disk0")
            self.assertIsNone(status and status.exit_status)
        await self.ends[NODE2].release("disk0")
        await self.ends[NODE2].release("never")
        for node in (NODE1, NODE2):
            self.assertEqual((await self.ended(node, "disk0")).exit_status, 0)

    async def test_held_and_stopped(self) -> None:
        """One that was not told to is not taken for done."""
        await self.begin(receiver={"holds": True})
        await self.until(NODE2, "disk0", lambda status: status.filled)
        await self.ends[NODE2].stop("disk0")
        for node in (NODE1, NODE2):
            self.assertTrue((await self.ended(node, "disk0")).exit_status)

    async def test_by_certificate(self) -> None:
        """Ends that were told of one another's certificate need no other trust."""
        await self.begin(sender=self.by_certificate(NODE1), receiver=self.by_certificate(NODE2))
        for node in (NODE1, NODE2):
            self.assertEqual((await self.ended(node, "disk0")).exit_status, 0)
        self.assertEqual(self.content(NODE2), self.content(NODE1))

    async def test_other_certificate(self) -> None:
        """Who shows another one neither gets anything nor fills anything, whatever its name is."""
        before = self.content(NODE2)
        one, two = self.by_certificate(NODE1), self.by_certificate(NODE2)
        swapped = {**one, "certificate": two["certificate"]}
        await self.begin("a", sender={**swapped, "connect_limit": 1.0}, receiver={**two, "connect_limit": 2.0})
        self.assertIn("cannot connect", (await self.ended(NODE1, "a")).error_message)
        swapped = {**two, "certificate": one["certificate"]}
        await self.begin("b", sender=one, receiver={**swapped, "connect_limit": 1.0})
        self.assertIn("has not connected", (await self.ended(NODE2, "b")).error_message)
        self.assertTrue((await self.ended(NODE1, "b")).exit_status)
        self.assertEqual(self.content(NODE2), before)
