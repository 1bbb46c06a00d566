"""What the watcher does with a node's machines by itself."""

from collections.abc import Mapping, Sequence

from attrs import define, evolve, field
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.confd.messages import NodeRole
from ganeti_tx.errors import ConfdClientError, HypervisorError
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.node.hypervisor.interfaces import IKeepsState, InstanceInfo
from ganeti_tx.node.hypervisor.kept import KEPT
from ganeti_tx.node.storage.abilities import ILeaving
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.mirror_node import MirrorNode, mirror_spec
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec
from ganeti_tx.test.watcher.watched import WatchedCase
from ganeti_tx.watcher.health import clear_leftovers, maintain_health
from ganeti_tx.watcher.machines import clear, end_kept, give_back, stop_all, stop_everything
from ganeti_tx.watcher.node import WatchedNode


class HealthTests(WatchedCase):
    """When machines are stopped, and when what they left is removed."""

    def setUp(self) -> None:
        """A node whose programs are only noted."""
        super().setUp()
        self.ran: list[str] = []
        self.status, self.said = 0, "instance web1 was cut off\n"
        self.node = evolve(self.watched.node, run=self.run_program)

    def run_program(self, argv: Sequence[str], environment: Mapping[str, str], limit: float) -> tuple[int, str]:
        """Instead of one."""
        self.ran.append(argv[-1])
        return self.status, self.said

    def ssconf(self, key: str, value: str) -> None:
        """What the node has heard."""
        self.watched.put(self.watched.paths.ssconf_file(key), f"{value}\n")

    def test_offline(self) -> None:
        """Machines are cut off where that is wanted and the candidates call the node offline, and in no other case."""
        for wanted, role, ran in (
            ("False", NodeRole.OFFLINE, []),
            ("True", NodeRole.REGULAR, []),
            ("True", NodeRole.DRAINED, []),
            ("True", NodeRole.OFFLINE, ["stop"]),
        ):
            self.ssconf("maintain_node_health", wanted)
            maintain_health(self.node, lambda node, role=role: role)  # type: ignore[misc]
            self.assertEqual(self.ran, ran, (wanted, role))
        self.assertEqual(self.watched.lines[-1], "instance web1 was cut off")
        self.status = 1
        maintain_health(self.node, lambda node: NodeRole.OFFLINE)
        self.assertEqual(self.node.log.failures, 1)

    def test_not_known(self) -> None:
        """Without an answer nothing is done."""

        def silence(node: WatchedNode) -> NodeRole:
            raise ConfdClientError("nobody answers")

        self.ssconf("maintain_node_health", "True")
        maintain_health(self.node, silence)
        self.assertEqual(
            (self.ran, self.watched.lines), ([], ["whether this node is offline is not known: nobody answers"])
        )

    def test_leftovers(self) -> None:
        """Only what is of no instance of the cluster is cause to look closer."""
        self.ssconf("instance_list", "web1.example.com")
        kept = self.watched.paths.kvm_conf_dir
        clear_leftovers(self.node)
        self.watched.put(kept / "web1.example.com.runtime", "")
        clear_leftovers(self.node)
        self.assertEqual(self.ran, [])
        self.watched.put(kept / "web2.example.com.runtime", "")
        clear_leftovers(self.node)
        self.assertEqual(self.ran, ["clear"])

    def test_leftovers_of_each(self) -> None:
        """Every hypervisor that keeps files is looked at; of what is known none is cause."""
        self.ssconf("instance_list", "web1.example.com")
        for place, ending in KEPT.values():
            directory = self.watched.paths.run_dir / place
            for name, ran in (("web1.example.com", []), ("web2.example.com", ["clear"])):
                self.watched.put(directory / f"{name}{ending}", "")
                self.ran.clear()
                clear_leftovers(self.node)
                self.assertEqual(self.ran, ran, (directory, name))
            (directory / f"web2.example.com{ending}").unlink()


@implementer(IKeepsState)
@define
class Machines(FakeHypervisor):
    """The fake hypervisor with files that stay; the machine `stuck` cannot be stopped."""

    kept: set[str] = field(factory=set)
    stuck: str = ""
    #: What each of its methods fails with.
    fault: Exception | None = None

    def kept_names(self) -> list[str]:
        """As IKeepsState says."""
        if self.fault is not None:
            raise self.fault
        return sorted(self.kept)

    async def list_instances(self) -> list[InstanceInfo]:
        """As IHypervisor says."""
        if self.fault is not None:
            raise self.fault
        return await super().list_instances()

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> None:
        """As IHypervisor says."""
        if instance_name == self.stuck:
            raise HypervisorError(f"instance {instance_name} does not end")
        await super().stop(instance_name, timeout, force)
        self.kept.discard(instance_name)


@implementer(ILeaving)
@define
class Mounting:
    """Of a storage that has mounted something what is asked of it; `stays`: what does, or how the storage fails."""

    stays: list[str] | Exception
    asked: int = 0

    async def leave(self) -> list[str]:
        """See `ILeaving`."""
        self.asked += 1
        if isinstance(self.stays, Exception):
            raise self.stays
        return self.stays


class MachinesTests(SynchronousTestCase):
    """What is done with each of them."""

    def machines(self, running: Sequence[str], kept: Sequence[str] = (), stuck: str = "") -> Machines:
        """Some that run, some of which there are only files."""
        machines = Machines(MemoryFiles(), Paths(), lambda: 0.0, kept=set(kept), stuck=stuck)
        for name in running:
            self.successResultOf(Deferred.fromCoroutine(machines.start(kvm_spec(name=name), [])))
        return machines

    def names(self, machines: Machines) -> list[str]:
        """Those that run."""
        found = self.successResultOf(Deferred.fromCoroutine(machines.list_instances()))
        return sorted(each.name for each in found)

    def test_stop(self) -> None:
        """Every machine is cut off, also after one that could not be, which is a failure."""
        said: list[str] = []
        machines = self.machines("abc", stuck="b")
        done = self.successResultOf(Deferred.fromCoroutine(stop_all([machines], said.append)))
        self.assertEqual((done, self.names(machines)), (False, ["b"]))
        self.assertEqual(said[1], "instance b does not end")

    def test_one_fails(self) -> None:
        """A hypervisor that fails, in whatever way, is told of, and keeps no machine of another running, and no mirror up."""
        for fault in (HypervisorError("no xl"), PermissionError(13, "no"), ValueError("bug")):
            said: list[str] = []
            first, failing, last = self.machines("a"), self.machines(""), self.machines("b", ["gone"])
            failing.fault = fault
            done = Deferred.fromCoroutine(stop_everything([first, failing, last], [], said.append))
            self.assertIs(self.successResultOf(done), False)
            self.assertEqual((self.names(first), self.names(last)), ([], []))
            done = Deferred.fromCoroutine(clear([failing, last], frozenset(), said.append))
            self.assertIs(self.successResultOf(done), False)
            self.assertEqual(last.kept, set())
            told = [line for line in said if line.startswith("hypervisor fake: ")]
            self.assertEqual(len(told), 2)
            self.assertIn(str(fault), told[0])

    def test_clear_unknown(self) -> None:
        """What cannot be looked at is told of, and the others are cleared."""
        said: list[str] = []
        machines = self.machines("", ["-x", "gone"], stuck="-x")
        done = self.successResultOf(Deferred.fromCoroutine(clear([machines], frozenset(), said.append)))
        self.assertEqual((done, machines.kept, len(said)), (False, {"-x"}, 2))

    def test_kept(self) -> None:
        """What something is kept of is cut off and cleared, and others that run here, as of another node, are let run."""
        said: list[str] = []
        machines = self.machines(["own", "other"], ["gone", "own", "stuck"], stuck="stuck")
        done = self.successResultOf(Deferred.fromCoroutine(end_kept([machines], said.append)))
        self.assertEqual((done, self.names(machines), machines.kept), (False, ["other"], {"stuck"}))
        self.assertEqual(said, ["instance gone was cut off", "instance own was cut off", "instance stuck does not end"])

    def test_mirrors(self) -> None:
        """Mirrors are taken down after the machines, those that nobody has open; one that stays up is a failure."""
        said: list[str] = []
        addresses = ("192.0.2.1", "192.0.2.2")
        node, other = (MirrorNode(address, MirrorWire(lambda: 0.0)) for address in addresses)
        for number in (0, 1):
            for place, home in enumerate((node, other)):
                spec = mirror_spec(addresses, place, number)
                self.successResultOf(Deferred.fromCoroutine(home.tree().create(spec, "web1")))
                self.successResultOf(Deferred.fromCoroutine(home.tree().assemble(spec, False)))
        held = f"/dev/drbd{mirror_spec(addresses, 0, 1).ends.local_minor}"  # type: ignore[union-attr]
        node.devices.open(held, "somebody")
        storages = (node.files, node.volumes, node.mirrors)
        machines = self.machines("a")
        done = self.successResultOf(Deferred.fromCoroutine(stop_everything([machines], storages, said.append)))
        self.assertEqual((done, self.names(machines), sorted(node.mirrors.up)), (False, [], [1]))
        self.assertEqual((said[0], len(said), held in said[1]), ("instance a was cut off", 2, True))
        node.devices.close(held, "somebody")
        done = self.successResultOf(Deferred.fromCoroutine(stop_everything([machines], storages, said.append)))
        self.assertEqual((done, node.mirrors.up, sorted(other.mirrors.up)), (True, {}, [10, 11]))

    def test_given_back(self) -> None:
        """Every storage gives back what it keeps of the node, also after one that cannot; what stays is said."""
        said: list[str] = []
        storages = [Mounting(["/mnt/a: busy"]), Mounting(OSError(5, "no")), Mounting([])]
        done = self.successResultOf(Deferred.fromCoroutine(give_back(storages, said.append)))
        self.assertEqual((done, said), (False, ["/mnt/a: busy", "[Errno 5] no"]))
        self.assertEqual([each.asked for each in storages], [1, 1, 1])
        done = self.successResultOf(Deferred.fromCoroutine(give_back(storages[2:], said.append)))
        self.assertTrue(done)

    def test_clear(self) -> None:
        """What runs stays, whether the cluster knows it or not, and so does what is left of an instance that it knows."""
        said: list[str] = []
        machines = self.machines(["unknown"], ["unknown", "known", "gone"])
        done = self.successResultOf(Deferred.fromCoroutine(clear([machines], frozenset({"known"}), said.append)))
        self.assertEqual((done, self.names(machines), machines.kept), (True, ["unknown"], {"unknown", "known"}))
        self.assertEqual(said, ["removed what instance gone had left, which is gone"])
