"""SSH between the nodes of a cluster, with no key but those that the cluster made, and no known host but those that it knows."""

from typing import ClassVar

from ganeti_tx.test.nodes.cluster_case import SystemdClusterCase
from ganeti_tx.test.real.guest import make_guest

#: What the set of nodes came with: a key of root's that all share, and known hosts.
OWN = "rm -f /root/.ssh/id_ed25519* && sed -i '/ root$/d' /root/.ssh/authorized_keys"
OTHER_KEYS = "rm -f /etc/ssh/ssh_known_hosts && echo 'ssh-rsa AAAA somebody else' >> /root/.ssh/authorized_keys"
ADD = (
    "gnt-instance add -t file --disk 0:size=64M -n node2.example.com -o busybox+default -B memory=128 "
    "--net 0:link=br0 --ignore-ipolicy web1.example.com"
)
#: Types into the console until the guest's shell answers, then leaves it with Ctrl-].
#: What the console before this one had begun to type is dropped first.
CONSOLE = (
    ": > /tmp/console; (until grep -q Connected /tmp/console; do sleep 1; done; printf '\\003'; "
    "until grep -q '^I am web1.example.com' /tmp/console; do sleep 1; echo 'echo I am $(hostname)'; done; "
    "printf '\\035'; sleep 1) | timeout 100 script -qefc 'gnt-instance console web1.example.com' /tmp/console"
)


class SshTests(SystemdClusterCase):
    """Three nodes of a cluster and one that becomes its fourth."""

    count: ClassVar[int] = 4

    def add(self, master: int, node: int) -> None:
        """Add a node; the cluster's own keys are its only ones from then on."""
        self.run_on(master, f"gnt-node add --no-ssh-key-check node{node}.example.com")

    def let_in(self, node: int) -> list[str]:
        """Whose roots a node lets in."""
        lines = self.run_on(node, "cat /root/.ssh/authorized_keys").splitlines()
        self.assertIn("ssh-rsa AAAA somebody else", lines)
        return [line.split()[2].removeprefix("root@") for line in lines if line.endswith("(ganeti_tx)")]

    async def test_any_candidate(self) -> None:
        """A console on another node, a failover, the console again, and one more node: all with the cluster's own keys."""
        names = [f"node{node}.example.com" for node in self.nodes.numbers]
        for node in self.nodes.numbers:
            self.run_on(node, OTHER_KEYS)
        self.init(await make_guest())
        for node in (2, 3):
            self.add(1, node)
        for node in self.nodes.numbers:
            self.run_on(node, OWN)
        self.run_on(1, ADD)
        self.run_on(1, CONSOLE)
        self.run_on(3, "gnt-cluster master-failover")
        self.run_on(3, CONSOLE)
        self.run_on(3, "gnt-node add --readd node1.example.com")  # known by now, so it is checked

        key = self.run_on(3, "cat /root/.ssh/id_rsa.pub").strip()
        self.run_on(4, f"echo '{key}' >> /root/.ssh/authorized_keys")  # as ssh-copy-id does
        self.assertIn("Host key verification failed", self.run_on(3, f"gnt-node add {names[3]}", status=1))
        self.add(3, 4)
        for node in self.nodes.numbers:
            self.assertEqual((node, self.let_in(node)), (node, names))
            self.assertEqual(self.run_on(node, "stat -c '%a %U %G' /var/lib/ganeti/known_hosts").split(), [
                "644", "gnt-masterd", "gnt-masterd",
            ])  # fmt: skip
            self.assertEqual(self.run_on(node, "stat -c %a /root/.ssh/authorized_keys").strip(), "600")
        self.run_on(3, f"gnt-node remove {names[3]} && gnt-node modify -C no {names[0]}")
        for node in (1, 2, 3):
            self.assertEqual(self.let_in(node), names[1:3])
            self.assertNotIn(names[3], self.run_on(node, "cat /var/lib/ganeti/known_hosts"))
        self.assertEqual(self.let_in(4), [])
        self.run_on(4, "test ! -e /var/lib/ganeti/known_hosts")


class LeftAloneTests(SystemdClusterCase):
    """Where the cluster is not to set up SSH."""

    count: ClassVar[int] = 2

    def test_left_alone(self) -> None:
        """With --no-ssh-init root's directory is as it was on every node; hosts are known all the same."""
        before = [self.run_on(node, "sha256sum /root/.ssh/*") for node in self.nodes.numbers]
        self.init(options="--no-ssh-init")
        self.add_nodes()
        self.assertEqual([self.run_on(node, "sha256sum /root/.ssh/*") for node in self.nodes.numbers], before)
        for node in self.nodes.numbers:
            self.assertIn("node2.example.com", self.run_on(node, "cat /var/lib/ganeti/known_hosts"))

    def test_one_node(self) -> None:
        """With --no-node-setup it is so on that node alone."""
        self.init()
        before = self.run_on(2, "sha256sum /root/.ssh/*")
        self.run_on(1, "gnt-node add --no-node-setup node2.example.com")
        self.assertEqual(self.run_on(2, "sha256sum /root/.ssh/*"), before)
        lines = self.run_on(1, "grep -c ganeti_tx /root/.ssh/authorized_keys")
        self.assertEqual(lines.strip(), "1")
