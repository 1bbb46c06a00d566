"""Domains that go from one played node to another, both of which keep the contract of migrations."""

from collections.abc import Sequence
from typing import Any, ClassVar

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationState, Side
from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.test.contracts.live_migration import ADDRESS, LiveMigrationContract
from ganeti_tx.test.node.hypervisor.xen.parts import KINDS, PATHS, driver_of, played_node, xen_spec
from ganeti_tx.test.node.hypervisor.xen.world import World
from ganeti_tx.test.real.migration_pairs import NEW, OLD, identity, pairs


class XenMigrationTests(LiveMigrationContract):
    """Two nodes that reach each other."""

    kind: ClassVar[XenKind] = KINDS[0]
    paging: ClassVar[str] = "shadow"
    tells_downtime = False

    async def prepare(self) -> None:
        """See the contract."""
        self.world = World()
        self.nodes = [played_node(self.world), played_node(self.world)]
        self.before = set(self.nodes[0].files.contents())

    def new_drivers(self) -> Any:
        """See the contract."""
        return [driver_of(node, self.kind) for node in self.nodes]

    def remains(self, node: int) -> list[str]:
        """See the contract."""
        files = set(self.nodes[node].files.contents()) - self.before
        left = sorted(str(path) for path in files if path.parent != PATHS.log_xen_dir)
        return left + [each.name for each in self.nodes[node].domains]

    def spec(self) -> InstanceSpec:
        """See the contract."""
        return xen_spec(self.kind)

    def pairs(self) -> Sequence[TlsPair]:
        """See the contract."""
        return pairs()

    def turn(self) -> None:
        """See the contract."""
        self.nodes.reverse()

    async def pause(self) -> None:
        """See the contract."""
        self.world.tick()

    async def test_commands(self) -> None:
        """xl sends through a program that knows the two nodes by keys of this migration, which are gone when it has ended."""
        await self.accept()
        await self.send()
        own = [PATHS.xen_run_dir / self.kind.name / self.name / name for name in ("own.pem", "peer.pem")]
        for node, mine, other in ((self.nodes[0], OLD, NEW), (self.nodes[1], NEW, OLD)):
            kept = [node.files.read(path, 1 << 16) for path in own]
            self.assertEqual(kept, [identity(mine).bundle, identity(other).certificate])
        (listening,) = [argv for argv in self.nodes[1].calls if argv[0] == "socat"]
        (sending,) = [argv for argv in self.nodes[0].calls if argv[:2] == ["xl", "migrate"]]
        trust = f"cert={own[0]},cafile={own[1]},verify=1,openssl-commonname="
        self.assertTrue(
            listening[-2].startswith("OPENSSL-LISTEN:8002,pf=ip4,bind=127.0.0.1,reuseaddr,forever,"), listening
        )
        self.assertIn(trust, listening[-2])
        self.assertEqual(sending[:5], ["xl", "migrate", "-s", "", "1"])
        self.assertIn(" -T300 STDIO ", sending[5])
        self.assertIn(f"OPENSSL:127.0.0.1:8002,connect-timeout=30,no-sni=1,retry=180,interval=0.5,{trust}", sending[5])
        self.assertEqual(len(sending), 6)
        await self.new.take_over(self.name)
        await self.old.leave_source(self.name)
        for node in self.nodes:
            self.assertEqual([path for path in own if node.files.exists(path)], [])

    async def test_unseen_writes(self) -> None:
        """One is not begun where Xen cannot know what the domain writes meanwhile; an older Xen, which may, does not tell."""
        self.nodes[0].abilities = "pv hvm gnttab-v1 gnttab-v2"
        words = f"instance {self.name}: this node's Xen (4.17.7) has no {self.paging} paging"
        self.assertIn(words, await self.refused(self.old.migration_info(self.instance)))
        self.nodes[0].abilities = "hvm"
        await self.accept()

    async def test_without_keys(self) -> None:
        """Nobody is believed who need not show one."""
        info = await self.old.migration_info(self.instance)
        self.assertIn("must be given keys", await self.refused(self.new.accept(self.instance, [], info, ADDRESS)))
        self.assertIn("must be given keys", await self.refused(self.old.send(self.instance, ADDRESS, True)))
        self.assertEqual((await self.sides(), self.remains(1)), ([Side.RUNS, None], []))

    async def test_cut_off(self) -> None:
        """Whoever takes a migration back while memory is sent has the instance where it was, and nothing elsewhere."""
        for step in (1, 2):
            await self.accept()
            self.world.stuck_at = step
            await self.old.send(self.instance, ADDRESS, True, pairs()[0])
            for _ in range(step):
                self.world.tick()
            self.assertEqual(await self.sides(), [Side.SENDING, Side.INCOMING])
            await self.old.stay_on_source(self.name, False)
            await self.new.refuse(self.name)
            self.assertEqual((await self.sides(), self.remains(1)), ([Side.RUNS, None], []))

    async def test_refused_meanwhile(self) -> None:
        """A node that refuses what comes ends the sending."""
        await self.accept()
        self.world.stuck_at = 1
        await self.old.send(self.instance, ADDRESS, True, pairs()[0])
        self.world.tick()
        await self.new.refuse(self.name)
        progress = await self.old.migration_progress(self.name, 60.0)
        self.assertEqual(progress.status, MigrationState.FAILED)
        self.assertIn("Failed to write page data", progress.reason)
        await self.old.stay_on_source(self.name, False)
        self.assertEqual(await self.sides(), [Side.RUNS, None])

    async def test_nobody_waits(self) -> None:
        """What is sent to a node that does not wait for it fails, and runs on."""
        progress = await self.send()
        self.assertEqual(
            (progress.status, progress.reason), (MigrationState.FAILED, "socat[1] E connect(): Connection refused")
        )
        self.assertEqual(await self.sides(), [Side.RUNS, None])

    async def test_port_in_use(self) -> None:
        """A port that somebody else has is named; nothing is left."""
        self.world.listening[8002] = self.nodes[0]
        self.assertIn("port 8002", await self.refused(self.accept()))
        self.assertEqual(self.remains(1), [])

    async def test_slow(self) -> None:
        """What has not got so far that it waits is ended; nothing is left that would wait in the end."""
        self.nodes[1].is_slow = True
        self.assertIn("cannot wait for it", await self.refused(self.accept()))
        self.assertEqual((self.world.listening, self.remains(1)), ({}, []))

    async def test_no_way_back(self) -> None:
        """What was sent in full is not let go on, also when the other node has gone: it is started again."""
        await self.accept()
        await self.send()
        self.assertIn("start it again", await self.refused(self.old.stay_on_source(self.name, True)))
        self.assertIn("has left something", await self.refused(self.old.start(self.instance, [])))

    async def test_start_of_what_waits(self) -> None:
        """A node that waits for an instance does not start it."""
        await self.accept()
        self.assertIn("has left something", await self.refused(self.new.start(self.instance, [])))

    async def test_paused(self) -> None:
        """A guest that stands still could not get ready."""
        self.nodes[0].domains[0].letters = "--p---"
        await self.accept()
        self.assertIn("paused", await self.refused(self.old.send(self.instance, ADDRESS, True)))

    async def test_bad_address(self) -> None:
        """Only an address gets into a command."""
        info = await self.old.migration_info(self.instance)
        for address in ("node2", "127.0.0.1;reboot", ""):
            for moving in (
                self.new.accept(self.instance, [], info, address, pairs()[1]),
                self.old.send(self.instance, address, True, pairs()[0]),
            ):
                self.assertIn("not an IP address", await self.refused(moving))

    async def test_bad_info(self) -> None:
        """What another node tells is checked: another instance, other disks, nonsense."""
        info = dict(await self.old.migration_info(self.instance))
        wrong: dict[str, dict[str, Any]] = {
            "of instance x": {"uuid": "x"},
            "runs with disks /d": {"disks": ["/d"]},
            "not understood": {"memory": "y"},
            "not understood: Expected `int` >= 1 - at `$.vcpus`": {"vcpus": -1},
            "of instance [2Jx": {"uuid": "\x1b[2Jx"},
            "with disks [2J/d": {"disks": ["\x1b[2J/d"]},
        }
        for why, changes in wrong.items():
            told = {**info, **changes}
            self.assertIn(why, await self.refused(self.new.accept(self.instance, [], told, ADDRESS, pairs()[1])))
            self.assertEqual(self.remains(1), [])


class FullyVirtualMigrationTests(XenMigrationTests):
    """xen-hvm."""

    kind = KINDS[1]
    paging = "hap or shadow"
