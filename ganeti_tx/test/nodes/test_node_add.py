"""`gnt-node add` on nodes with systemd: all or nothing."""

from typing import ClassVar

from ganeti_tx.test.nodes.cluster_case import SystemdClusterCase

UNKNOWN = "rm -f /etc/ssh/ssh_known_hosts"
KEYS = "cd /var/lib/ganeti && sha256sum server.pem client.pem"
#: Refuses the job that adds a node, but not the dry run before.
LATE = (
    "gnt-filter add --priority 0 --action REJECT --predicates "
    """'[["opcode", ["&", ["=", "OP_ID", "OP_NODE_ADD"], ["!", ["?", "dry_run"]]]]]'"""
)


class NothingLeftTests(SystemdClusterCase):
    """A node that is not added is as it was."""

    count: ClassVar[int] = 2

    def test_refused(self) -> None:
        """Neither what is refused at once, nor what is refused late, leaves keys or daemons; then it is added."""
        self.init()
        for options, why in (
            ("-g ghost", "ghost"),
            ("-s 198.51.100.12", "must be alike"),
            ("--readd", "not in the cluster"),
            ("-s 192.0.2.100", "belongs to the cluster"),
        ):
            self.assertIn(why, self.run_on(1, f"gnt-node add {options} node2.example.com", status=1))
            self.check_untouched(2)
        self.late_refusal("gnt-node add node2.example.com")
        self.check_untouched(2)
        self.run_on(1, "gnt-node add node2.example.com")
        self.check_units(master=1)

    def test_interrupted(self) -> None:
        """An interrupt, while the node is set up or while the job waits, takes everything back."""
        self.init()
        slow = "/etc/systemd/system/ganeti-mond.service.d"
        self.run_on(2, f"mkdir {slow} && printf '[Service]\\nExecStartPre=/bin/sleep 3\\n' > {slow}/slow.conf")
        self.run_on(2, "systemctl daemon-reload")
        joining = "until ssh node2.example.com test -e /var/lib/ganeti/server.pem; do sleep 0.1; done"
        said = self.interrupted(joining)
        self.assertIn("taking back what was done", said)
        self.check_untouched(2)
        self.run_on(2, f"rm -r {slow} && systemctl daemon-reload")

        rule = self.run_on(1, LATE.replace("REJECT", "PAUSE")).strip()
        # The dry run before is queued for a moment, too: only when the node has been set up is it the job itself.
        queued = "until gnt-job list --no-headers -o status,summary | grep -q '^queued *NODE_ADD'; do sleep 0.1; done"
        self.assertIn("the node was not added", self.interrupted(f"{joining}; {queued}"))
        self.check_untouched(2)
        self.run_on(1, f"gnt-filter delete {rule}")
        self.assertEqual(self.run_on(1, "gnt-node list --no-headers -o name").split(), ["node1.example.com"])

    def interrupted(self, reached: str) -> str:
        """Type the interrupt when a point is reached. What the command says."""
        command = "gnt-node add node2.example.com"
        typed = f"({reached}; printf '\\003'; sleep 2)"
        return self.run_on(1, f"{typed} | script -qc '{command}' /dev/null")

    def test_member(self) -> None:
        """A member that is not added again goes on with its former keys, and can be."""
        self.init()
        self.add_nodes()
        before = self.run_on(2, KEYS)
        said = self.late_refusal("gnt-node add --readd node2.example.com")
        self.assertIn("former keys", said)
        self.assertEqual(self.run_on(2, KEYS), before)
        self.check_units(master=1)
        self.run_on(1, "gnt-cluster verify")
        self.run_on(1, "gnt-node add --readd node2.example.com")
        self.assertNotEqual(self.run_on(2, KEYS), before)
        self.run_on(1, "gnt-cluster verify")

    def test_lost_disk(self) -> None:
        """A node whose disk was replaced while it was offline is set up anew by --readd, and is in service again."""
        self.init()
        self.add_nodes()
        self.run_on(1, "gnt-node modify --offline=yes --auto-promote node2.example.com")
        self.run_on(2, "systemctl stop 'ganeti-*' && rm -rf /var/lib/ganeti/* /root/.ssh/id_*")
        said = self.run_on(1, "gnt-node modify --offline=no node2.example.com", status=1)
        self.assertIn("node2.example.com", said)
        self.run_on(1, "gnt-node add --readd node2.example.com")
        rows = self.run_on(1, "gnt-node list --no-headers -o name,role").split()
        self.assertEqual(rows, ["node1.example.com", "M", "node2.example.com", "C"])
        self.check_units(master=1)
        self.run_on(1, "gnt-cluster verify")
        self.run_on(1, "gnt-debug delay --no-master -n node2.example.com 0")

    def test_unknown_host(self) -> None:
        """A host whose key nobody knows is refused, unless the check is left out, which teaches nobody."""
        self.init()
        self.run_on(1, UNKNOWN)
        said = self.run_on(1, "gnt-node add node2.example.com", status=1)
        self.assertIn("Host key verification failed", said)
        self.check_untouched(2)
        self.run_on(1, "gnt-node add --no-ssh-key-check node2.example.com")
        self.run_on(1, "test ! -e /root/.ssh/known_hosts")

    def late_refusal(self, command: str) -> str:
        """Have the job refused once the node is set up. What the command says."""
        rule = self.run_on(1, LATE).strip()
        said = self.run_on(1, command, status=1)
        self.assertIn("rejected", said)
        self.run_on(1, f"gnt-filter delete {rule}")
        return said

    def check_untouched(self, node: int) -> None:
        """No key, no daemon, nothing red."""
        self.check_nothing_runs(node)
        left = self.run_on(node, "ls /var/lib/ganeti")
        self.assertEqual([name for name in left.split() if name.endswith((".pem", ".key")) or "ssconf" in name], [])
