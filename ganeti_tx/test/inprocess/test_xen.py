"""Instances under Xen by their commands, in a whole cluster whose nodes have an xl that is only played."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.node import SimulatedNode
from ganeti_tx.test.node.hypervisor.xen.parts import KERNEL, PASSWORD
from ganeti_tx.test.node.hypervisor.xen.world import World, XenNode

ADD = "gnt-instance add -t sharedfile --disk 0:size=1G -o noop -B maxmem=128,minmem=64 -H {} -n node2 web1"
NAME = "web1.example.com"
#: Seconds between the steps of what is under way.
STEP = 0.5
#: Where drivers and processes have files.
PLACES = ("/etc/xen/", "/var/run/ganeti/xen-hypervisor/", "/proc/4", "/proc/9")
PROGRAMS = ("xl", "socat", "kill")


class XenCase(ClusterCase):
    """All nodes are under Xen."""

    def setUp(self) -> None:
        super().setUp()
        self.world = World()
        self.xen = [self.under_xen(node) for node in self.cluster.members]
        process: Any = self.cluster.new_process("xen")
        ticking = LoopingCall(self.world.tick)
        ticking.clock = process
        ticking.start(STEP)
        self.ok(
            "gnt-cluster modify --enabled-hypervisors xen-pvm,xen-hvm --user-shutdown yes"
            f" -H xen-pvm:xen_cmd=xl,kernel_path={KERNEL} -H xen-hvm:xen_cmd=xl,vnc_password_file={PASSWORD}"
        )

    def under_xen(self, node: SimulatedNode) -> XenNode:
        """Let a node have the programs."""
        played = XenNode(self.world, node.disk, bridges=["xen-br0"])
        for path in (KERNEL, PASSWORD):
            played.put(path, "text\n")

        def run(call: Call) -> "Deferred[ProcessResult] | ProcessResult":
            if call.log is None:
                return played.run(call.argv)
            played.next_pid = node.scripts.next_pid
            played.run_detached(call.argv, log=call.log)
            return ProcessResult()

        for program in (*PROGRAMS, "ip"):
            node.scripts.script([program], run)
        return played

    def domains(self) -> list[list[str]]:
        """Their names, by node."""
        return [[each.name for each in played.domains] for played in self.xen]

    def fields(self, names: str) -> list[str]:
        """Of the instance."""
        return self.ok(f"gnt-instance list --no-headers -o {names} web1").split()


class LifeTests(XenCase):
    """From its first start to the end."""

    def test_life(self) -> None:
        """It is started, looked at, changed, rebooted, migrated, stopped and removed; a domain of somebody else's stays."""
        self.xen[1].add({"vcpus": "1", "uuid": "1" * 36}, "other", "-b----", 64)
        for hypervisor in ("xen-pvm", "xen-hvm"):
            self.ok(ADD.format(hypervisor))
            self.assertEqual(self.domains(), [[], ["other", NAME], []])
            self.assertEqual(self.fields("status,oper_ram,hypervisor"), ["running", "128M", hypervisor])
            self.ok("gnt-instance modify --runtime-memory 96 web1")
            self.assertEqual(self.fields("oper_ram"), ["96M"])
            self.assertIn(f"ganeti_tx.xen_console {NAME}", self.ok("gnt-instance console --show-cmd web1"))
            before = self.xen[1].domains[-1].id
            self.ok("gnt-instance reboot -t soft web1")
            self.assertGreater(self.xen[1].domains[-1].id, before)
            self.ok("gnt-instance migrate -f -n node3 web1")
            self.assertEqual((self.domains(), self.fields("pnode")), ([[], ["other"], [NAME]], ["node3.example.com"]))
            self.assertIn("Verifying", self.ok("gnt-cluster verify"))
            self.ok("gnt-instance failover -f -n node2 web1")
            self.ok("gnt-instance shutdown web1")
            self.assertEqual(self.domains(), [[], ["other"], []])
            self.ok("gnt-instance remove -f web1")
        for played in self.xen:
            left = [path for path in played.files.contents() if str(path).startswith(PLACES)]
            self.assertEqual(left, [])

    def test_user_shutdown(self) -> None:
        """A guest that ends itself is seen as that, and is started again by who asks for it."""
        self.ok(ADD.format("xen-pvm"))
        self.xen[1].power_off(self.xen[1].domains[0])
        self.assertEqual(self.fields("status"), ["USER_down"])
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.fields("status"), ["running"])

    def test_broken_migration(self) -> None:
        """A migration whose connection breaks leaves the instance where it was."""
        self.ok(ADD.format("xen-pvm"))
        self.world.stuck_at = 1
        job = self.scene().submit("gnt-instance migrate -f -n node3 --submit web1")
        self.cluster.pass_time(20.0)
        self.world.give_up(self.world.sendings[0], "xc: error: Broken pipe")
        self.cluster.pass_time(60.0)
        self.assertEqual(self.statuses(job), ["error"])
        self.assertEqual(
            (self.domains(), self.fields("status,pnode")), ([[], [NAME], []], ["running", "node2.example.com"])
        )

    def test_refused(self) -> None:
        """What cannot be is refused with its name."""
        self.fails(ADD.format("xen-pvm:kernel_path=/none"), "kernel_path: /none is not on this node")
        self.fails(ADD.format("xen-pvm:xen_cmd=xl"), "xen_cmd")
        self.fails("gnt-cluster modify -H xen-pvm:xen_cmd=virsh", "xen_cmd")
