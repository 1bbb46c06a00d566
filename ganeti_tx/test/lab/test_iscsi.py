"""Disks of the provider `iscsi` that the kernels of nodes have: two machines log in to targets of tgt on a third one."""

import os

from twisted.trial.unittest import SkipTest

from ganeti_tx.runtime.shipped import shipped
from ganeti_tx.test.fakes.iscsi_target import need_tgt
from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE, LabCase, the_cluster
from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.network import address
from ganeti_tx.test.lab.packages import add_packages, send_directory, send_programs

INSTANCE = "tick3.lab.example"
ENABLE = "--enabled-disk-templates=plain,drbd,file,ext", "--ipolicy-disk-templates=plain,drbd,file,ext"
DISABLE = "--enabled-disk-templates=plain,drbd,file", "--ipolicy-disk-templates=plain,drbd,file"
ADD = ["gnt-instance", "add", "-t", "ext", "--no-ip-check", "--no-name-check", "--no-nics", *guest.options(INSTANCE)]
PROVIDERS, POOL = "/srv/ganeti/extstorage", "/srv/disks"
TARGET = "iqn.2008-11.org.ganeti:"
#: What the daemon of the initiator wants, and udev, which names the devices.
INITIATOR = """set -e; modprobe iscsi_tcp; mkdir -p /run/lock
[ -s /etc/iscsi/initiatorname.iscsi ] || echo "InitiatorName=$(iscsi-iname)" > /etc/iscsi/initiatorname.iscsi
pgrep -x iscsid || iscsid
pgrep -x systemd-udevd || /usr/lib/systemd/systemd-udevd --daemon"""
SHOW = "tgtadm --lld iscsi --op show --mode target"
LIMIT = 400.0


class KernelIscsiTests(LabCase):
    """An instance with a disk upon such a target."""

    def setUp(self) -> None:
        """@raise SkipTest: the campaign has this one."""
        if CAMPAIGN_VARIABLE not in os.environ:
            raise SkipTest("'bin/lab campaign' runs this one")
        need_tgt()
        super().setUp()
        self.cluster = the_cluster()
        self.nodes, self.store = self.machines[:2], self.machines[2]
        for machine in self.machines:
            self.make_provider(machine)
        for machine in self.nodes:
            self.make_initiator(machine)
        self.make_store()
        self.addCleanup(self.cluster.run, "gnt-cluster", "modify", *DISABLE)
        self.cluster.ok("gnt-cluster", "modify", *ENABLE)

    def make_provider(self, machine: Machine) -> None:
        """On all nodes of the cluster; their administrator allows the third machine."""
        send_directory(machine, shipped("extstorage/iscsi"), PROVIDERS)
        store = address(self.store.node)
        machine.run(f"cd {PROVIDERS}/iscsi; echo pool {POOL} > directories; echo {store} | tee hosts > portals")

    def make_initiator(self, machine: Machine) -> None:
        """A node with open-iscsi."""
        if machine.ended("command -v iscsid").returncode != 0:
            add_packages(machine, "open-iscsi")
        machine.run(INITIATOR, limit=LIMIT)

    def make_store(self) -> None:
        """The machine with tgt, which this one has."""
        send_programs(self.store, "/usr/sbin/tgtd", "/usr/sbin/tgtadm")
        self.addCleanup(self.store.ended, "kill -KILL $(pidof tgtd)")
        self.store.run(f"mkdir -p {POOL} /etc/tgt/conf.d; pidof tgtd || tgtd; until {SHOW}; do sleep 0.2; done")

    def disk(self, host: Machine) -> list[str]:
        """What `gnt-instance add` is told of it."""
        initiators = "+".join(address(machine.node) for machine in self.nodes)
        place = f"portal={address(self.store.node)},host={address(host.node)},pool={POOL},initiators={initiators}"
        return ["--disk", f"0:size=64M,provider=iscsi,{place}"]

    def devices(self, machine: Machine) -> list[str]:
        """Those that its kernel has, of sessions that it has."""
        sessions = machine.ended("iscsiadm -m session").stdout.count(TARGET)
        found = machine.ended("ls /dev/disk/by-path").stdout.split()
        names = [name for name in found if TARGET in name]
        self.assertEqual(len(names), sessions)
        return [f"/dev/disk/by-path/{name}" for name in names]

    def assert_only_on(self, machine: Machine, size: int) -> None:
        """One node has the device, of so many MiB, and no other has a session."""
        self.assertEqual([len(self.devices(each)) for each in self.nodes], [each == machine for each in self.nodes])
        (device,) = self.devices(machine)
        self.assertEqual(int(machine.run(f"blockdev --getsize64 {device}")), size << 20)

    def do(self, line: str) -> str:
        """A command on the instance that must succeed."""
        verb, *options = line.split()
        return self.cluster.ok("gnt-instance", verb, *options, INSTANCE)

    def grow(self) -> None:
        """From 64 MiB to 80."""
        self.cluster.ok("gnt-instance", "grow-disk", INSTANCE, "0", "16M")

    def test_whole_life(self) -> None:
        """It counts, migrates, fails over, grows, and is removed; no node has a device that it does not need."""
        first, second = self.nodes
        names = [self.cluster.node_name(machine) for machine in self.nodes]
        self.cluster.ok(*ADD, *self.disk(self.store), "-n", names[0], INSTANCE)
        self.addCleanup(self.cluster.run, "gnt-instance", "remove", "-f", INSTANCE)
        self.do("startup")
        guest.counted(first, INSTANCE, 5)
        self.assert_only_on(first, 64)

        self.do(f"migrate -f -n {names[1]}")
        before = guest.ticks(first, INSTANCE)
        after = guest.counted(second, INSTANCE, before[-1] + 5)
        self.assertEqual([*before, *after], list(range(before[0], after[-1] + 1)))
        self.assert_only_on(second, 64)

        self.do(f"failover -f -n {names[0]}")
        last = guest.ticks(second, INSTANCE)[-1]
        self.assertGreater(guest.counted(first, INSTANCE, last + 5)[0], last)
        self.assert_only_on(first, 64)
        self.cluster.verify()

        with self.assertRaisesRegex(LabFailed, "shut its instance down first"):
            self.grow()
        guest.counted(first, INSTANCE, guest.ticks(first, INSTANCE)[-1] + 5)
        self.do("shutdown --timeout=0")
        self.assertEqual([self.devices(machine) for machine in self.nodes], [[], []])
        self.grow()
        self.assertEqual([self.devices(machine) for machine in self.nodes], [[], []])
        last = guest.ticks(first, INSTANCE)[-1]
        self.do("startup")
        self.assertGreater(guest.counted(first, INSTANCE, last + 5)[0], last)
        self.assert_only_on(first, 80)

        self.do("remove -f --shutdown-timeout=0")
        self.assertEqual([self.devices(machine) for machine in self.nodes], [[], []])
        self.assertEqual([self.store.run(f"ls -A {each}") for each in (POOL, "/etc/tgt/conf.d")], ["", ""])
        self.assertEqual(self.store.run(SHOW), "")

    def test_other_host(self) -> None:
        """Root's ssh goes to no machine that is not listed, which is told in one line; nothing is left."""
        other = self.nodes[1]
        ended = self.cluster.run(*ADD, *self.disk(other), "-n", self.cluster.node_name(self.nodes[0]), INSTANCE)
        said = f"parameter host is not allowed to be '{address(other.node)}': {PROVIDERS}/iscsi/hosts does not list it"
        self.assertEqual((ended.returncode, said in ended.stderr), (1, True), ended.stderr)
        self.assertNotIn(INSTANCE, self.cluster.ok("gnt-instance", "list", "--no-headers", "-o", "name"))
