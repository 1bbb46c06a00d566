"""A cluster's life on nodes with systemd: made, used, its master changed, its power cut, destroyed."""

import time

from ganeti_tx.test.nodes.cluster_case import INIT, INTERVAL, SETTLE_LIMIT, SystemdClusterCase
from ganeti_tx.test.real.guest import make_guest

ADD = (
    "gnt-instance add -t file --disk 0:size=64M -n node2.example.com -o busybox+default -B memory=128 "
    "--net 0:link=br0 --ignore-ipolicy web1.example.com"
)
#: Waits until the guest has booted; its shell is asked for what was said before we listen.
HAS_BOOTED = (
    "(while sleep 2; do echo \"dmesg | grep 'ganeti_tx guest'\"; done) | timeout 250 socat -t 250 - "
    "UNIX-CONNECT:/var/run/ganeti/kvm-hypervisor/ctrl/web1.example.com.serial | grep -m 1 'web1.example.com is up'"
)
MAIN_PID = "systemctl show -P MainPID ganeti-metad"
#: From the next start on it can ask its node who it is.
TELL = (
    "gnt-cluster modify --instance-communication-network=inside && "
    "gnt-instance modify --ignore-ipolicy --communication=yes web1.example.com"
)


class LifeTests(SystemdClusterCase):
    """With a real instance in it."""

    async def test_life(self) -> None:
        """Every command does what it says at once, no unit is ever red, and in the end nothing runs."""
        self.init(await make_guest())
        self.assertEqual(self.nodes.failed_units(1), [])
        self.add_nodes()
        self.check_units(master=1)
        self.run_on(1, ADD)
        self.check_status(1, "running")
        self.run_on(2, HAS_BOOTED)

        self.run_on(3, "gnt-cluster master-failover")
        self.check_units(master=3)
        self.check_status(3, "running")
        self.run_on(3, "systemctl restart ganeti-master && gnt-node list")
        self.check_status(3, "running")

        self.nodes.power_off(2)
        self.check_status(3, "ERROR_nodedown")
        self.nodes.power_on(2)
        self.run_on(2, "systemctl start ganeti-noded")
        self.check_status(3, "ERROR_down")
        self.run_on(3, TELL)
        self.run_on(3, "gnt-instance startup web1.example.com")
        self.check_status(3, "running")
        self.check_metadata(2)

        for node in (1, 3):  # a former master, and the present one
            self.nodes.reboot(node)
            self.run_on(node, "systemctl start ganeti-master ganeti-rapi ganeti-confd ganeti-mond")
            self.check_units(master=3, metadata=2)
        self.check_status(3, "running")

        self.run_on(3, "gnt-instance remove -f --shutdown-timeout=0 web1.example.com")
        for node in (1, 2):
            self.run_on(3, f"gnt-node remove node{node}.example.com")
        self.run_on(3, "gnt-cluster destroy --yes-do-it")
        for node in self.nodes.numbers:
            self.check_nothing_runs(node)
            self.nodes.reboot(node)
            self.check_nothing_runs(node)

    def check_metadata(self, node: int) -> None:
        """The metadata daemon listens there as its own user, and comes again when it is killed, and with the node daemon."""
        for end in ("systemctl kill --signal=KILL ganeti-metad", "systemctl stop ganeti-metad ganeti-noded"):
            self.check_units(master=3, metadata=node)
            pid = self.run_on(node, MAIN_PID)
            self.assertIn(f"pid={pid.strip()},", self.run_on(node, "ss -Hltnp src 169.254.169.254:80"))
            self.assertEqual(self.run_on(node, f"ps -o user= {pid}").strip(), "gnt-metad")
            self.run_on(node, end)
            self.run_on(node, "systemctl start ganeti-noded")
            deadline = time.monotonic() + SETTLE_LIMIT
            while self.run_on(node, MAIN_PID) in ("0\n", pid):
                self.assertLess(time.monotonic(), deadline, f"no new metadata daemon after '{end}'")
                time.sleep(INTERVAL)
        self.check_units(master=3, metadata=node)


class TakenOverTests(SystemdClusterCase):
    """The master without whom the others have gone on."""

    def test_comes_back(self) -> None:
        """A master whose power was cut, and whose place was taken, comes back as a node, and is not red for that."""
        self.init()
        self.add_nodes()
        self.nodes.power_off(1)
        self.run_on(2, "gnt-cluster master-failover")
        self.nodes.power_on(1)
        for units in ("ganeti-master ganeti-rapi", "ganeti-luxid", "ganeti-wconfd", "ganeti-master"):
            # its node daemon may be ending them, for which systemd cancels a start
            self.run_on(1, f"systemctl start {units}", status=None)
            self.check_units(master=2)
        for unit in ("ganeti-master", "ganeti-rapi"):  # as a node daemon does that hears of another master
            self.run_on(1, f"systemctl start --no-block {unit} && systemctl stop {unit}")
            self.check_units(master=2)


class WordsTests(SystemdClusterCase):
    """What is said when something is wrong."""

    count = 2

    def test_words(self) -> None:
        """A daemon that does not come up is told with its reason and its journal; hints say what systemd understands."""
        self.run_on(1, "echo MOND_ARGS=--bind=192.0.2.99 > /etc/default/ganeti")
        said = self.run_on(1, INIT.format(hypervisors="fake"), status=1)
        self.assertIn("ganeti-mond did not start: cannot listen on 192.0.2.99:1815", said)
        self.assertIn("see journalctl -u ganeti-mond", said)
        self.check_nothing_runs(1)
        self.run_on(1, "rm /etc/default/ganeti")
        self.init()
        self.run_on(2, "echo MOND_ARGS=--bind=192.0.2.99 > /etc/default/ganeti")
        said = self.run_on(1, "gnt-node add node2.example.com", status=1)
        self.assertIn("see journalctl -u ganeti-mond", said)
        self.check_nothing_runs(2)
        self.run_on(2, "rm /etc/default/ganeti")
        self.add_nodes()
        self.run_on(2, "systemctl stop ganeti-noded")
        self.assertIn("systemctl start ganeti-noded", self.run_on(1, "gnt-cluster verify", status=None))
        self.run_on(1, "systemctl stop ganeti-master")
        self.assertIn("systemctl start ganeti-master", self.run_on(1, "gnt-node list", status=1))
