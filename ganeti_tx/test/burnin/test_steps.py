"""What each step asks of the master, and which steps there are for which instances."""

from collections.abc import Sequence
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.burnin.command_words import parser, read_words
from ganeti_tx.burnin.instances import Burned
from ganeti_tx.burnin.operations import Situation, created
from ganeti_tx.burnin.ring import Ring
from ganeti_tx.burnin.steps import STEPS, Step
from ganeti_tx.errors import OpExecError
from ganeti_tx.model import opcodes
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS

NODES = ("a", "b", "c")
TITLES = {step.title: step for step in STEPS}
#: Steps of all instances, and of all that have disks.
ALWAYS = ("Rebooting", "Adding and removing network interfaces", "Renaming to the same name", "Stopping and starting")
WITH_DISKS = (
    *("Growing disks", "Exporting and importing", "Reinstalling", "Adding and removing disks"),
    "Activating and deactivating disks",
)
MIRRORED = ("Failing over", "Migrating")
#: Those of each template, when nothing is left out.
SUITABLE = {
    "diskless": {*ALWAYS, *MIRRORED},
    "drbd": {
        *ALWAYS,
        *WITH_DISKS,
        *MIRRORED,
        "Replacing disks on the same nodes",
        "Replacing the secondary node",
    },
    "ext": {*ALWAYS, *WITH_DISKS, *MIRRORED},
    "file": {*ALWAYS, *WITH_DISKS, "Moving"},
    "gluster": {*ALWAYS, *WITH_DISKS, *MIRRORED},
    "plain": {*ALWAYS, *WITH_DISKS, "Moving"},
    "rbd": {*ALWAYS, *WITH_DISKS, *MIRRORED},
    "sharedfile": {*ALWAYS, *WITH_DISKS, *MIRRORED},
}


def situation(*words: str, nodes: Sequence[str] = NODES) -> Situation:
    """What the steps of a command line know."""
    wanted = read_words(parser(), ["-o", "noop", *words, "web1", "web2"])
    return Situation(wanted=wanted, ring=Ring(nodes), tag="burnin:1")


def web1(*nodes: str) -> Burned:
    """The first instance, somewhere."""
    return Burned(name="web1", number=0, primary=nodes[0], secondaries=nodes[1:], disks=1, nics=1)


class StepCase(SynchronousTestCase):
    """Opcodes are decoded as the master does."""

    def ops(self, title: str, instance: Burned, *words: str, nodes: Sequence[str] = NODES) -> list[dict[str, Any]]:
        """Those of a step, without what all have."""
        parts = TITLES[title].parts(situation(*words, nodes=nodes), instance)
        return self.valid([part.op for part in parts])

    def valid(self, ops: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Each is known, with its parameters."""
        for op in ops:
            opcodes.decode({"reason": [], **op}, strict_wire=True)
        return [{key: value for key, value in op.items() if key not in ("ignore_ipolicy", "name_check")} for op in ops]


class TableTests(StepCase):
    """Which steps there are."""

    def left_out(self, *words: str, nodes: int = 3, hypervisor: Hypervisor = Hypervisor.KVM) -> dict[str, str]:
        """Why, by the steps."""
        wanted = situation(*words).wanted
        return {
            step.title: why
            for step in STEPS
            if (why := step.why_not(wanted, hypervisor.value, HYPERVISORS[hypervisor], nodes))
        }

    def test_templates(self) -> None:
        """Each has its steps; a name to rename to must be given."""
        for template, suitable in SUITABLE.items():
            self.assertEqual({*TITLES} - {*self.left_out("-t", template)}, suitable, template)
            self.assertEqual(self.left_out("-t", template)["Renaming"], "not asked for")
            self.assertNotIn("Renaming", self.left_out("-t", template, "--rename=web3"))

    def test_options(self) -> None:
        """Each that has an option is left out by it alone, which is told."""
        for step in STEPS:
            if step.option:
                template = next(name for name, suitable in SUITABLE.items() if step.title in suitable)
                flag = f"--no-{step.option.removeprefix('do_')}".replace("_", "-").replace("addremove", "add")
                before, after = self.left_out("-t", template), self.left_out("-t", template, flag)
                self.assertEqual({*after} - {*before}, {step.title})
                self.assertEqual(after[step.title], flag)
        self.assertEqual(self.left_out("--disk-growth=0")["Growing disks"], "not asked for")

    def test_nodes(self) -> None:
        """Some need two nodes or three."""
        self.assertEqual(
            self.left_out("-t", "drbd", nodes=2)["Replacing the secondary node"], "needs 3 nodes, and there are 2"
        )
        self.assertNotIn("Failing over", self.left_out("-t", "drbd", nodes=2))
        self.assertIn("Exporting and importing", self.left_out("-t", "file", nodes=1))
        self.assertIn("Moving", self.left_out("-t", "file", nodes=1))

    def test_hypervisor(self) -> None:
        """What does not migrate is not migrated."""
        self.assertEqual(self.left_out("-t", "drbd", hypervisor=Hypervisor.LXC)["Migrating"], "hypervisor lxc cannot")

    def test_only_renaming_is_alone(self) -> None:
        """There is one name to spare."""
        self.assertEqual([step.title for step in STEPS if step.one_by_one], ["Renaming"])


class CreateTests(StepCase):
    """New instances."""

    def create(self, number: int, *words: str) -> dict[str, Any]:
        """The opcode of one."""
        [op] = self.valid([part.op for part in created(situation(*words), number)])
        return op

    def test_all(self) -> None:
        """What was said of it is in it."""
        words = [
            "-t",
            "drbd",
            "--disk-size=1g,2g",
            "--disk-growth=0,0",
            "-O",
            "a=1",
            "-H",
            "kvm:acpi=no",
            "--no-ip-check",
        ]
        self.assertEqual(
            self.create(1, *words, "--vcpu-count=2"),
            {
                "OP_ID": "OP_INSTANCE_CREATE",
                "instance_name": "web2",
                "mode": "create",
                "disk_template": "drbd",
                "disks": [{"size": 1024}, {"size": 2048}],
                "nics": [{}],
                "os_type": "noop",
                "osparams": {"a": "1"},
                "hypervisor": "kvm",
                "hvparams": {"acpi": False},
                "beparams": {"minmem": 128, "maxmem": 256, "vcpus": 2},
                "ip_check": False,
                "wait_for_sync": True,
                "start": True,
                "tags": ["burnin:1"],
                "pnode": "b",
                "snode": "c",
            },
        )

    def test_places(self) -> None:
        """Around the nodes, or wherever an allocator says; no disks where there are none."""
        places = [self.create(number, "-t", "file").get("pnode") for number in (0, 1)]
        self.assertEqual(places, ["a", "b"])
        allocated = self.create(0, "-t", "drbd", "-I", "hail")
        self.assertEqual((allocated["iallocator"], "pnode" in allocated, "snode" in allocated), ("hail", False, False))
        diskless = self.create(0, "-t", "diskless", "--no-nics")
        self.assertEqual((diskless["disks"], diskless["nics"]), ([], []))


class PartTests(StepCase):
    """What each does."""

    def named(self, op_id: str, name: str = "web1", **more: Any) -> dict[str, Any]:
        """An opcode of an instance."""
        return {"OP_ID": f"OP_{op_id}", "instance_name": name, **more}

    def test_replace(self) -> None:
        """On the secondary and the primary, then by a third node, or by what an allocator says."""
        more: dict[str, Any] = {"disks": [0], "early_release": True}
        self.assertEqual(
            self.ops("Replacing disks on the same nodes", web1("a", "b"), "--early-release"),
            [
                self.named("INSTANCE_REPLACE_DISKS", mode="replace_on_secondary", **more),
                self.named("INSTANCE_REPLACE_DISKS", mode="replace_on_primary", **more),
            ],
        )
        new: dict[str, Any] = {"mode": "replace_new_secondary", "disks": [], "early_release": False}
        title = "Replacing the secondary node"
        for place, third in ((("a", "b"), "c"), (("b", "c"), "a"), (("a", "c"), "b")):
            self.assertEqual(
                self.ops(title, web1(*place)), [self.named("INSTANCE_REPLACE_DISKS", remote_node=third, **new)]
            )
        self.assertEqual(
            self.ops(title, web1("a", "b"), "-I", "hail"),
            [self.named("INSTANCE_REPLACE_DISKS", iallocator="hail", **new)],
        )

    def test_grow(self) -> None:
        """Those disks that are to grow."""
        self.assertEqual(
            self.ops("Growing disks", web1("a"), "--disk-size=1g,1g", "--disk-growth=0,64m"),
            [self.named("INSTANCE_GROW_DISK", disk=1, amount=64)],
        )

    def test_elsewhere(self) -> None:
        """Mirrors say where; storage that all nodes see needs a node, or an allocator."""
        for title, kind, after in (
            ("Failing over", "INSTANCE_FAILOVER", []),
            ("Migrating", "INSTANCE_MIGRATE", [self.named("INSTANCE_MIGRATE", cleanup=True)]),
        ):
            self.assertEqual(self.ops(title, web1("a", "b"), "-t", "drbd"), [self.named(kind), *after])
            self.assertEqual(
                self.ops(title, web1("c"), "-t", "sharedfile"), [self.named(kind, target_node="a"), *after]
            )
            self.assertEqual(
                self.ops(title, web1("c"), "-t", "sharedfile", "-I", "hail"),
                [self.named(kind, iallocator="hail"), *after],
            )
        self.assertEqual(self.ops("Moving", web1("b"), "-t", "plain"), [self.named("INSTANCE_MOVE", target_node="c")])

    def test_export(self) -> None:
        """To a node that has nothing of it, if there is one, and from there to others; without snapshots it sleeps meanwhile."""
        title = "Exporting and importing"
        ops = self.ops(title, web1("a", "b"), "-t", "drbd")
        self.assertEqual([op["OP_ID"] for op in ops][1], "OP_INSTANCE_REMOVE")
        self.assertEqual(ops[0], self.named("BACKUP_EXPORT", target_node="c"))
        back = ops[-1]
        self.assertEqual((back["mode"], back["src_node"], back["disks"]), ("import", "c", []))
        self.assertEqual((back["pnode"], back["snode"], back["tags"]), ("b", "c", ["burnin:1"]))
        two = self.ops(title, web1("a", "b"), "-t", "drbd", nodes=("a", "b"))
        self.assertEqual((two[0]["target_node"], two[-1]["pnode"], two[-1]["snode"]), ("a", "b", "a"))
        self.assertTrue(self.ops(title, web1("a"), "-t", "file")[0]["long_sleep"])

    def test_state(self) -> None:
        """Down and up, in all ways."""
        down, up = self.named("INSTANCE_SHUTDOWN"), self.named("INSTANCE_STARTUP")
        self.assertEqual(self.ops("Stopping and starting", web1("a")), [down, up])
        self.assertEqual(
            self.ops("Rebooting", web1("a"), "--reboot-types=soft,full"),
            [self.named("INSTANCE_REBOOT", reboot_type="soft"), self.named("INSTANCE_REBOOT", reboot_type="full")],
        )
        reinstall = self.named("INSTANCE_REINSTALL")
        self.assertEqual(self.ops("Reinstalling", web1("a")), [down, reinstall, {**reinstall, "os_type": "noop"}, up])
        activate, deactivate = (self.named(f"INSTANCE_{what}ACTIVATE_DISKS") for what in ("", "DE"))
        self.assertEqual(
            self.ops("Activating and deactivating disks", web1("a")), [activate, down, activate, deactivate, up]
        )

    def test_devices(self) -> None:
        """One more and one less; disks go while it is down."""
        disks = self.ops("Adding and removing disks", web1("a"), "--disk-size=512m")
        self.assertEqual(disks[0], self.named("INSTANCE_SET_PARAMS", disks=[["add", -1, {"size": 512}]]))
        self.assertEqual(disks[2], self.named("INSTANCE_SET_PARAMS", disks=[["remove", -1, {}]]))
        self.assertEqual([disks[1]["OP_ID"], disks[3]["OP_ID"]], ["OP_INSTANCE_SHUTDOWN", "OP_INSTANCE_STARTUP"])
        self.assertEqual(
            [op["nics"] for op in self.ops("Adding and removing network interfaces", web1("a"))],
            [[["add", -1, {}]], [["remove", -1, {}]]],
        )

    def test_rename(self) -> None:
        """It runs under the other name, and has its own again."""
        ops = self.ops("Renaming", web1("a"), "--rename=web3")
        self.assertEqual(
            [(op["OP_ID"], op["instance_name"], op.get("new_name")) for op in ops],
            [
                ("OP_INSTANCE_SHUTDOWN", "web1", None),
                ("OP_INSTANCE_RENAME", "web1", "web3"),
                ("OP_INSTANCE_STARTUP", "web3", None),
                ("OP_INSTANCE_SHUTDOWN", "web3", None),
                ("OP_INSTANCE_RENAME", "web3", "web1"),
                ("OP_INSTANCE_STARTUP", "web1", None),
            ],
        )
        same = self.ops("Renaming to the same name", web1("a"))
        self.assertEqual([op.get("new_name") for op in same], [None, "web1", None])


class RingTests(SynchronousTestCase):
    """Nodes in turn."""

    def test_after(self) -> None:
        """The next that is free; from a node that is none of them it is the first."""
        ring = Ring(NODES)
        self.assertEqual([ring.after(node) for node in (*NODES, "z")], ["b", "c", "a", "a"])
        self.assertEqual(ring.after("a", ("b",)), "c")
        error = self.assertRaises(OpExecError, Ring(("a", "b")).after, "a", ("b",))
        self.assertEqual(str(error), "there is no node besides a, b")

    def test_each_is_described(self) -> None:
        """What a person reads names what is done."""
        for step in STEPS:
            self.assertIsInstance(step, Step)
            words = ["-t", "drbd", "--rename=web3"]
            self.assertTrue(all(part.what for part in step.parts(situation(*words), web1("a", "b"))), step.title)
