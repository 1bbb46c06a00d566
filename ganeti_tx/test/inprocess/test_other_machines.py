"""A machine that was left where an instance was removed is not taken for a new instance of the same name, and is left alone."""

from pathlib import Path

import msgspec

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.test_xen import XenCase

ADD = "gnt-instance add -t sharedfile --disk 0:size=1G -o noop {} -n {} web1"
NAME = "web1.example.com"
WHAT = f"the machine {NAME} that runs under fake on node node2.example.com was started for another instance of that name (uuid "
UNDER_XEN = "-H xen-pvm"
ENDS = f"'rm /var/run/ganeti/fake-hypervisor/{NAME}' on that node ends it"


class LeftCase(ClusterCase):
    """Its instance was removed while node2 was marked offline."""

    def leave(self, how: str = "") -> None:
        """Have it left there. @param how: how its instance was made."""
        self.ok(ADD.format(how, "node2"))
        self.ok("gnt-node modify -O yes node2")
        self.ok("gnt-instance remove -f --ignore-failures web1")
        self.ok("gnt-node modify -O no node2")
        self.left = self.machine()

    @property
    def path(self) -> Path:
        """Of what is remembered of it."""
        return self.cluster.paths.run_dir / "fake-hypervisor" / NAME

    def machine(self) -> bytes:
        """What is remembered."""
        return self.cluster.node(2).disk.read(self.path, 1 << 20)

    def add_unseen(self, how: str = "", *, start: bool = False) -> None:
        """Make a new instance of the name where the machine is, as one that has come there by a move."""
        self.cluster.node(2).disk.remove(self.path)
        self.ok(ADD.format(how if start else f"--no-start {how}", "node2"))
        put(self.cluster.node(2).disk, self.path, self.left)

    def is_left_alone(self) -> None:
        """It is as it was."""
        self.assertEqual(self.machine(), self.left)

    def refused(self, command: str, *why: str) -> None:
        """With such an error, and the machine is as it was."""
        status, out, err = self.scene().run(command.split())
        self.assertNotEqual(status, 0, out)
        for each in why:
            self.assertIn(each, err)
        self.is_left_alone()


class OtherMachinesTests(LeftCase):
    """And a new instance has the same hypervisor."""

    def setUp(self) -> None:
        super().setUp()
        self.leave()

    def test_new_instance(self) -> None:
        """It cannot be started, and is not said to run; what is done to it is not done to the machine."""
        self.add_unseen()
        self.refused("gnt-instance startup web1", WHAT, ENDS)
        self.refused("gnt-instance reboot web1", WHAT, ENDS)
        self.assertEqual(self.ok("gnt-instance list --no-headers -o status,oper_ram web1").split(), ["ADMIN_down", "-"])
        self.assertIn("actual state is down", self.ok("gnt-instance info web1"))
        self.refused("gnt-instance console --show-cmd web1", "is not running")
        self.refused("gnt-instance modify --hotplug --disk add:size=1G web1", WHAT)
        self.refused("gnt-instance migrate -f -n node3 web1", "is not running")
        self.assertIn(WHAT, self.ok("gnt-instance shutdown web1"))
        self.is_left_alone()
        self.ok("gnt-instance remove -f web1")
        self.is_left_alone()
        self.assertEqual(self.cluster.config.instances, {})

    def test_created(self) -> None:
        """None is made where the machine is, be it started or not, and whether anybody remembers whose it is."""
        self.refused(ADD.format("", "node2"), WHAT, ENDS)
        self.refused(ADD.format("--no-start", "node2"), WHAT, ENDS)
        self.left = msgspec.json.encode({**msgspec.json.decode(self.left), "uuid": ""})
        put(self.cluster.node(2).disk, self.path, self.left)
        self.refused(ADD.format("", "node2"), "was started for another instance of that name, which", ENDS)
        self.assertEqual(self.cluster.config.instances, {})

    def test_other_home(self) -> None:
        """An instance of that name on another node does not come to where the machine is, and is not taken to be there."""
        self.ok(ADD.format("", "node3"))
        self.assertEqual(self.ok("gnt-instance list --no-headers -o status web1").split(), ["running"])
        self.refused("gnt-instance migrate -f -n node2 web1", WHAT, ENDS)
        self.refused("gnt-instance failover -f -n node2 web1", WHAT, ENDS)
        self.assertEqual(self.ok("gnt-instance list --no-headers -o status web1").split(), ["running"])
        self.ok("gnt-instance migrate -f --cleanup -n node2 web1")
        self.assertEqual(
            self.ok("gnt-instance list --no-headers -o pnode,status web1").split(), ["node3.example.com", "running"]
        )
        self.is_left_alone()

    def test_moved(self) -> None:
        """One that is copied does not come there either, and runs on where it is."""
        self.ok(ADD.format("", "node3").replace("sharedfile", "file"))
        self.refused("gnt-instance move -f -n node2 web1", WHAT, ENDS)
        self.assertEqual(self.ok("gnt-instance list --no-headers -o status web1").split(), ["running"])

    def test_renamed(self) -> None:
        """Nor does one on its node get its name."""
        self.ok(ADD.format("--no-start --no-name-check --no-ip-check", "node2").replace("web1", "new1.example.com"))
        self.refused("gnt-instance rename --force --no-name-check --no-ip-check new1 web1.example.com", WHAT, ENDS)
        self.assertEqual([each.name for each in self.cluster.config.instances.values()], ["new1.example.com"])

    def test_verify(self) -> None:
        """It is named, with what ends it, as long as it is there; then the new instance can be started."""
        self.add_unseen()
        status, out, _ = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        self.assertNotEqual(status, 0)
        [line] = [line for line in out.splitlines() if "ENODEORPHANINSTANCE" in line]
        self.assertIn(f"ERROR:ENODEORPHANINSTANCE:node:node2.example.com:{WHAT}", line)
        self.assertIn(ENDS, line)
        self.cluster.node(2).disk.remove(self.path)
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.ok("gnt-instance list --no-headers -o status web1").split(), ["running"])

    def test_unknown(self) -> None:
        """What no instance's name is has the same hint."""
        status, out, _ = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        self.assertNotEqual(status, 0)
        self.assertIn(f"unknown instance {NAME} is running; {ENDS}", out)


class OtherHypervisorTests(XenCase, LeftCase):
    """What was left runs under another hypervisor than the new instance."""

    def setUp(self) -> None:
        super().setUp()
        self.ok("gnt-cluster modify --enabled-hypervisors fake,xen-pvm,xen-hvm")
        self.leave("-H fake")

    def test_nothing_made(self) -> None:
        """No instance is made where it is, or comes there, or gets its name."""
        self.refused(ADD.format(UNDER_XEN, "node2"), WHAT, ENDS)
        self.refused(ADD.format(f"--no-start {UNDER_XEN}", "node2"), WHAT, ENDS)
        checks = "--no-name-check --no-ip-check"
        self.ok(ADD.format(f"--no-start {checks} {UNDER_XEN}", "node2").replace("web1", "new1.example.com"))
        self.refused(f"gnt-instance rename --force {checks} new1 web1.example.com", WHAT, ENDS)
        self.assertEqual([each.name for each in self.cluster.config.instances.values()], ["new1.example.com"])
        self.ok(ADD.format(UNDER_XEN, "node3"))
        for command in ("migrate", "failover"):
            self.refused(f"gnt-instance {command} -f -n node2 web1", WHAT, ENDS)
        self.assertEqual(self.ok("gnt-instance list --no-headers -o pnode,status web1").split()[1], "running")
        self.assertEqual(self.domains(), [[], [], [NAME]])

    def test_started(self) -> None:
        """One that has come there all the same is not started, until the other machine is gone."""
        self.add_unseen(UNDER_XEN)
        self.refused("gnt-instance startup web1", WHAT, ENDS)
        self.refused("gnt-instance reboot web1", WHAT, ENDS)
        self.assertEqual(self.fields("status,oper_ram"), ["ADMIN_down", "-"])
        self.assertEqual(self.domains(), [[], [], []])
        self.cluster.node(2).disk.remove(self.path)
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.domains(), [[], [NAME], []])

    def test_both(self) -> None:
        """When both run, that is told of this name, and nothing of the node's other instances is unknown."""
        self.add_unseen(UNDER_XEN, start=True)
        self.ok(ADD.format("-H fake --no-name-check --no-ip-check", "node2").replace("web1", "db1.example.com"))
        self.assertEqual(
            self.ok("gnt-instance list --no-headers -o name,status,oper_ram").split(),
            ["db1.example.com", "running", "128M", NAME, "running", "128M"],
        )
        self.assertIn("actual state is up", self.ok("gnt-instance info web1"))
        status, out, _ = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        self.assertNotEqual(status, 0)
        self.assertNotIn("rpc call to node failed (instancelist)", out)
        [line] = [line for line in out.splitlines() if "ENODEORPHANINSTANCE" in line]
        self.assertIn(f"ERROR:ENODEORPHANINSTANCE:node:node2.example.com:{WHAT}", line)
        self.assertIn(ENDS, line)
        self.ok("gnt-instance reboot -t full web1")
        self.ok("gnt-instance shutdown web1")
        self.assertEqual(self.domains(), [[], [], []])
        self.is_left_alone()


class OlderMachinesTests(ClusterCase):
    """What an older version has started, which did not remember for whom."""

    def test_goes_on(self) -> None:
        """It is its instance's."""
        self.ok(ADD.format("", "node2"))
        node = self.cluster.node(2)
        path = node.paths.run_dir / "fake-hypervisor" / NAME
        machine = msgspec.json.decode(node.disk.read(path, 1 << 20))
        del machine["uuid"]
        put(node.disk, path, msgspec.json.encode(machine))
        self.assertEqual(self.ok("gnt-instance list --no-headers -o status web1").split(), ["running"])
        self.ok("gnt-instance reboot web1")
        self.ok("gnt-instance shutdown web1")
        self.assertEqual(self.cluster.running(), {})
