"""An instance with a mirrored disk in a whole cluster: commands, jobs, two nodes, and what befalls them."""

from random import Random

from msgspec.structs import replace

from ganeti_tx.logic.disks.make import create_disks, creations
from ganeti_tx.logic.steps import Steps
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.instance_view import InstanceView, view_of
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevCreate, BlockdevRemove
from ganeti_tx.test.fakes.mirror_node import MirrorNode
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.mirrors import with_mirrors
from ganeti_tx.test.inprocess.network import Trouble
from ganeti_tx.test.inprocess.simulation import SimulatedTime
from ganeti_tx.test.logic.stage import INSTANCE
from ganeti_tx.test.model.samples import DISK

NAME = INSTANCE.name


def with_mirrored_instance(config: ConfigData) -> ConfigData:
    """A cluster whose second node has an instance that is mirrored to the third."""
    _, second, third = sorted(config.nodes.values(), key=lambda node: node.name)
    homes = (second.uuid, third.uuid)
    disk = replace(
        DISK,
        logical_id=(*homes, *(DISK.logical_id or ())[2:]),
        nodes=homes,
        children=tuple(replace(child, nodes=homes) for child in DISK.children),
    )
    instance = replace(
        INSTANCE, primary_node=second.uuid, hypervisor=Hypervisor.FAKE, hvparams={}, nics=(), network_port=None
    )
    return replace(with_mirrors(config), instances={instance.uuid: instance}, disks={disk.uuid: disk})


class MirroredCase(ClusterCase):
    """The mirror is made on both nodes; nothing is up yet."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        time = SimulatedTime()
        self.wire = MirrorWire(time.seconds, rate=10.0)
        cluster = InProcessCluster(3, seed, time=time, mirror_wire=self.wire, prepare=with_mirrored_instance)
        self.addCleanup(cluster.end)
        return cluster

    def setUp(self) -> None:
        super().setUp()
        rpc = self.cluster.run(self.cluster.acting.stamped_rpc(self.cluster.new_process("maker")))
        steps = Steps(lambda entry: None, print, self.never, plan=creations(self.view()))
        self.cluster.run(create_disks(rpc, self.view(), steps))

    async def never(self, undo: Undo) -> None:
        """Nothing here fails."""
        raise AssertionError(undo.title)

    def view(self) -> InstanceView:
        """The instance as it is configured."""
        config = self.cluster.config
        (instance,) = config.instances.values()
        return view_of(
            instance,
            cluster=config.cluster,
            disks=config.disks,
            nodes=config.nodes,
            groups=config.nodegroups,
            networks=config.networks,
        )

    def home(self, number: int) -> MirrorNode:
        """The storages of a node."""
        home = self.cluster.node(number).mirror_node
        assert home is not None
        return home

    def ready(self) -> list[int]:
        """How many devices are ready on each of the two nodes."""
        return [len(self.home(number).devices.behind) for number in (2, 3)]

    def fill(self) -> None:
        """Let the mirror be filled."""
        self.cluster.pass_time(1000)

    def info(self) -> str:
        """What is told of the disk."""
        return "".join(line for line in self.ok(f"gnt-instance info {NAME}").splitlines(True) if " on " in line)


class MirroredTests(MirroredCase):
    """What befalls it."""

    def test_a_whole_life(self) -> None:
        """Up, filled, down, gone, on both nodes."""
        self.ok(f"gnt-instance startup {NAME}")
        self.assertEqual(self.ready(), [3, 3])
        self.assertIn("RECOVERING", self.info())
        self.fill()
        self.assertIn("on primary: /dev/drbd0 (147:0) in sync, status ok", self.info())
        self.assertIn("on secondary: /dev/drbd1 (147:1) in sync, status ok", self.info())
        self.assertEqual(len(self.info().splitlines()), 2 * 3)  # and the volumes that it is made of
        self.ok(f"gnt-instance shutdown {NAME}")
        self.assertEqual(self.ready(), [0, 0])
        self.ok(f"gnt-instance remove -f {NAME}")
        self.assertEqual([self.home(number).volumes.disks for number in (2, 3)], [{}, {}])

    def test_list(self) -> None:
        """Each side is told of with its minor and the other node, whether the mirror is up or not."""
        first, second = (self.cluster.node(number).name for number in (2, 3))
        head = "Node Minor Instance Disk Role PeerNode"
        self.assertEqual(
            self.ok("gnt-node list-drbd --separator=, node2").splitlines(),
            [head.replace(" ", ","), f"{first},0,{NAME},disk/0,primary,{second}"],
        )
        self.assertEqual(
            self.ok("gnt-node list-drbd --no-headers node3").split(),
            [second, "1", NAME, "disk/0", "secondary", first],
        )
        self.assertEqual(self.ok("gnt-node list-drbd node1").strip(), head)
        self.fails("gnt-node list-drbd nosuch", "nosuch")

    def test_power_cut_of_the_primary(self) -> None:
        """A node that comes up again has its mirror again when the instance is started, and nothing is lost."""
        self.ok(f"gnt-instance startup {NAME}")
        self.fill()
        spec = self.view().disk_specs()[0]
        self.home(2).mirrors.write(spec, "letters")
        node = self.cluster.node(2)
        self.cluster.lose_power(node, Random(1))
        self.cluster.pass_time(5)
        node.boot()
        self.assertEqual(self.ready(), [0, 3])
        self.ok(f"gnt-instance startup {NAME}")
        self.fill()
        self.assertEqual((self.ready(), self.home(2).mirrors.read(spec)), ([3, 3], "letters"))
        self.assertNotIn("DEGRADED", self.info())

    def test_info_of_what_is_down(self) -> None:
        """A mirror that nobody needs is not set up, which is no fault."""
        self.ok(f"gnt-instance startup {NAME}")
        self.fill()
        self.ok(f"gnt-instance shutdown {NAME}")
        told = self.info()
        self.assertEqual(told.count("(N/A:N/A) not set up"), 2)
        self.assertNotIn("DEGRADED", told)

    def test_split_network(self) -> None:
        """Two nodes that do not reach each other are degraded, and tell; later they come together again."""
        self.ok(f"gnt-instance startup {NAME}")
        self.fill()
        addresses = [self.cluster.node(number).address for number in (2, 3)]
        self.wire.split(*addresses)
        self.assertEqual(self.info().count("*DEGRADED*"), 2)
        self.home(2).mirrors.write(self.view().disk_specs()[0], "meanwhile")
        self.wire.mend(*addresses)
        self.assertIn("RECOVERING", self.info())
        self.fill()
        self.assertEqual(self.info().count("in sync, status ok"), 2)

    def both_went_on(self) -> None:
        """Each side has something that the other has not."""
        self.ok(f"gnt-instance startup {NAME}")
        self.fill()
        addresses = [self.cluster.node(number).address for number in (2, 3)]
        here, there = (self.view().disk_specs(node)[0] for node in (self.view().primary, *self.view().secondaries))
        self.wire.split(*addresses)
        self.cluster.run(self.home(3).mirrors.become_primary(there))
        self.home(2).mirrors.write(here, "one")
        self.home(3).mirrors.write(there, "other")
        self.cluster.run(self.home(3).mirrors.become_secondary(there))
        self.wire.mend(*addresses)

    def test_split_brain(self) -> None:
        """Whatever stumbles over it says so, and names the commands that keep one side's changes, which do."""
        self.both_went_on()
        keep = f"'gnt-instance replace-disks -s {NAME}' keeps those of node2.example.com"
        verified = self.scene().run(["gnt-cluster", "verify"])
        activated = self.scene().run(["gnt-instance", "activate-disks", NAME])
        self.assertEqual([verified[0], activated[0]], [1, 0])
        told = [verified[1], "".join(activated[1:])]
        for line in ("failover -f", "migrate -f", "replace-disks -p"):
            status, out, err = self.scene().run(["gnt-instance", *line.split(), NAME])
            self.assertEqual(status, 1)
            told.append(out + err)
        made = [each.node for each in self.cluster.network.sent if isinstance(each.call, BlockdevCreate)]
        self.assertEqual(made, ["node2.example.com", "node3.example.com"])  # before
        for text in told:
            self.assertIn("split brain: each side has changes that the other has not", text)
            self.assertIn(keep, text)
        self.assertIn("WARNING: disk/0", told[1])
        self.ok(f"gnt-instance replace-disks -s {NAME}")
        self.assertEqual(self.info().count("in sync, status ok"), 2)
        self.assertNotIn("split brain", "".join(self.scene().run(["gnt-instance", "activate-disks", NAME])[1:]))
        self.assertEqual(self.home(2).mirrors.read(self.view().disk_specs()[0]), "one")

    def test_split_brain_is_seen(self) -> None:
        """Each side's line ends with what is wrong, and looking for broken disks fails as long as it is so."""
        self.both_went_on()
        lines = [line.strip() for line in self.info().splitlines() if "*DEGRADED*" in line]
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(
                line,
                r"^on \w+: /dev/drbd\d+ \(147:\d+\) \*DEGRADED\*, status ok \(StandAlone, split brain: each side has changes"
                r" that the other has not\)$",
            )
        status, out, err = self.scene().run(["gnt-cluster", "verify-disks"])
        self.assertEqual(status, 1)
        self.assertIn(f"disk/0 of instance {NAME} stays broken: StandAlone, split brain", err)
        self.assertIn(f"'gnt-instance replace-disks -s {NAME}' keeps those of node2", out + err)
        self.ok(f"gnt-instance replace-disks -s {NAME}")
        self.ok("gnt-cluster verify-disks")
        self.assertNotIn("(StandAlone", self.info())

    def test_split_brain_the_other_way(self) -> None:
        """After a failover that ignores it the other side's changes are kept."""
        self.both_went_on()
        self.ok(f"gnt-instance failover -f --ignore-consistency {NAME}")
        self.ok(f"gnt-instance replace-disks -s {NAME}")
        self.assertEqual(self.info().count("in sync, status ok"), 2)
        view = self.view()
        self.assertEqual(view.primary.name, "node3.example.com")
        self.assertEqual(self.home(3).mirrors.read(view.disk_specs()[0]), "other")

    def test_verification(self) -> None:
        """A mirror without its other side is told of; one that is down on a node is to be activated, one that fills is well."""
        self.ok(f"gnt-instance startup {NAME}")
        self.assertIn("No disks need to be activated.", self.ok("gnt-cluster verify-disks"))
        self.fill()
        addresses = [self.cluster.node(number).address for number in (2, 3)]
        self.wire.split(*addresses)
        status, out, _ = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        self.assertEqual(status, 1)
        for name in ("node2", "node3"):
            self.assertIn(f"ERROR:EINSTANCEFAULTYDISK:instance:{NAME}:disk/0 on {name}.example.com is degraded", out)
        self.wire.mend(*addresses)
        self.fill()
        self.assertNotIn("EINSTANCEFAULTYDISK", self.scene().run(["gnt-cluster", "verify", "--error-codes"])[1])
        node = self.cluster.node(3)
        self.cluster.lose_power(node, Random(1))
        self.cluster.pass_time(5)
        node.boot()
        self.cluster.pass_time(60)
        _, out, _ = self.scene().run(["gnt-cluster", "verify-disks"])
        self.assertIn(f"Activating disks for instance '{NAME}'", out)

    def test_lost_answers(self) -> None:
        """Calls of which nobody heard whether they were done are done again without harm."""

        def lost(node: str, call: NodeCall[object]) -> Trouble | None:
            return Trouble.ANSWER_LOST if isinstance(call, BlockdevAssemble | BlockdevRemove) else None

        self.cluster.network.fault = lost
        self.fails(f"gnt-instance startup {NAME}", "could not make disk/0")
        self.fails(f"gnt-instance remove -f {NAME}", "cannot remove the disks")
        self.cluster.network.fault = None
        self.ok(f"gnt-instance remove -f {NAME}")
        self.assertEqual(self.ready(), [0, 0])
        self.assertEqual(dict(self.cluster.config.instances), {})
