"""Daemons as their users on three nodes that were set up as the README says."""

import json

from ganeti_tx.test.nodes.case import NodesCase

EVERYWHERE = {"ganeti-noded": "root root", "ganeti-confd": "gnt-confd gnt-confd", "ganeti-mond": "root root"}
MASTERS = {"ganeti-master": "gnt-masterd gnt-masterd", "ganeti-rapi": "gnt-rapi gnt-rapi"}
#: What timers start for a moment, at any time.
TIMED = {"ganeti-watcher", "ganeti-cleaner"}
INIT = (
    "gnt-cluster init --master-netdev eth0 --enabled-disk-templates file --enabled-hypervisors fake cluster.example.com"
)
ADD = (
    "gnt-instance add -t file --disk 0:size=1g -o noop --net 0:mode=bridged,link=br0 "
    "--no-name-check --no-ip-check -n node2.example.com web1.example.com"
)
ASK = "curl -sS --cacert /var/lib/ganeti/ca.pem -u backup:secret https://cluster.example.com:5080/2/instances"
#: systemd's own measure of what a daemon that was taken over could do: 10 is all.
EXPOSED = {"ganeti-master": 2.5, "ganeti-rapi": 2.0, "ganeti-confd": 2.0, "ganeti-mond": 4.0}
WALK = "/opt/ganeti_tx/bin/python -m ganeti_tx.test.nodes.walk"


class UsersCase(NodesCase):
    """Looks at who runs what, and whose is what."""

    def setUp(self) -> None:
        """Nodes that allow disks in files."""
        super().setUp()
        for node in self.nodes.numbers:
            self.run_on(node, "mkdir -p /etc/ganeti /srv/ganeti/file-storage")
            self.run_on(node, "echo /srv/ganeti/file-storage > /etc/ganeti/file-storage-paths")

    def users(self, node: int) -> dict[str, str]:
        """User and group of each daemon that runs."""
        lines = self.run_on(node, "ps -eo user:20=,group:20=,args=").splitlines()
        rows = [line.split(None, 2) for line in lines]
        found = {name: f"{user} {group}" for user, group, args in rows for name in args.split() if "/ganeti-" in name}
        users = {name.rsplit("/", 1)[1]: who for name, who in found.items()}
        return {name: who for name, who in users.items() if name not in TIMED}

    def check(self, master: int) -> None:
        """Every daemon is its user's, and every file whose it should be."""
        for node in self.nodes.numbers:
            self.assertEqual(self.users(node), EVERYWHERE | (MASTERS if node == master else {}), f"node{node}")
            *wrong, compared = self.run_on(node, WALK).splitlines()
            self.assertEqual(wrong, [], f"node{node}")
            self.assertGreater(int(compared.split()[0]), 60)
            self.assertEqual(self.nodes.failed_units(node), [])


class UsersTests(UsersCase):
    """A cluster from its first command to another master."""

    def test_users(self) -> None:
        """They do all that daemons of root's did: jobs, instances, answers to programs, another master, a boot."""
        self.run_on(1, INIT)
        for node in (2, 3):
            self.run_on(1, f"gnt-node add node{node}.example.com")
        self.run_on(1, ADD)
        self.nodes.run(1, "ganeti-rapi-access user add backup --role @readonly", text="secret\n")
        self.check(1)
        self.assertEqual([row["id"] for row in json.loads(self.run_on(1, ASK))], ["web1.example.com"])
        self.assertIn("node1.example.com", self.run_on(2, "ganeti-confd-client master"))
        self.assertIn("master", self.run_on(3, "ganeti-confd-client node-role node1.example.com"))
        self.run_on(1, "gnt-job archive 1")
        self.run_on(2, "gnt-cluster master-failover")
        self.assertIn("running", self.run_on(2, "gnt-instance list"))
        self.run_on(2, "gnt-instance shutdown web1.example.com && gnt-job archive 2")
        self.check(2)
        self.assertEqual([row["id"] for row in json.loads(self.run_on(2, ASK))], ["web1.example.com"])
        self.nodes.reboot(2)
        self.run_on(2, "until gnt-instance list; do sleep 0.5; done")
        self.check(2)


class OneNodeTests(UsersCase):
    """A cluster of one node."""

    count = 1

    def test_taken_over(self) -> None:
        """A cluster of root's becomes the users'; what a user puts there leads root to no file of another's."""
        self.run_on(1, INIT)
        self.run_on(1, "gnt-debug delay 0 && gnt-job archive 1 && systemctl stop 'ganeti-*'")
        self.run_on(1, "chown -R root:root /var/lib/ganeti /var/log/ganeti /run/ganeti && ganeti-setup")
        self.run_on(1, "systemctl start ganeti-noded ganeti-master ganeti-rapi ganeti-confd ganeti-mond")
        self.check(1)
        by_user = "setpriv --reuid gnt-masterd --clear-groups"
        self.run_on(1, "mkdir /var/aim && echo > /var/aim/job-1 && chmod 755 /var/aim && chmod 600 /var/aim/job-1")
        self.run_on(1, "systemctl stop ganeti-master && mv /var/lib/ganeti/queue /var/lib/ganeti/away")
        self.run_on(1, f"{by_user} ln -s /var/aim /var/lib/ganeti/queue")
        self.run_on(1, f"{by_user} ln -s /etc/shadow /var/lib/ganeti/locks.data", None)
        self.run_on(1, "ganeti-ensure-dirs --full-run", None)
        owned = "stat -L --format %U:%a:%F /var/aim /var/aim/job-1 /etc/shadow"
        self.assertEqual(
            self.run_on(1, owned).splitlines(),
            ["root:755:directory", "root:600:regular file", "root:640:regular file"],
        )
        self.assertEqual(self.run_on(1, "ls /var/aim"), "job-1\n")
        self.run_on(1, "rm /var/lib/ganeti/queue && rm -r /etc/ganeti && umask 077 && ganeti-ensure-dirs")
        self.assertEqual(self.run_on(1, "stat --format %a /etc/ganeti"), "755\n")

    def test_started_by_hand(self) -> None:
        """Root may start a daemon without systemd: it becomes its user; another user may not; both as Ganeti does."""
        self.run_on(1, INIT)
        self.run_on(1, "systemctl stop ganeti-confd && ganeti-confd")
        self.assertEqual(self.users(1)["ganeti-confd"], "gnt-confd gnt-confd")
        self.assertIn("node1.example.com", self.run_on(1, "ganeti-confd-client master"))
        self.run_on(
            1, "kill $(cat /run/ganeti/ganeti-confd.pid); while [ -e /run/ganeti/ganeti-confd.pid ]; do sleep 0.1; done"
        )
        refused = self.run_on(1, "setpriv --reuid nobody --clear-groups ganeti-confd", 1)
        self.assertIn("runs as gnt-confd, or is started by root, but not by nobody", refused)
        self.run_on(1, "ganeti-confd --no-user-checks")
        self.assertEqual(self.users(1)["ganeti-confd"], "root root")

    def test_init_script(self) -> None:
        """/etc/init.d/ganeti stops, starts, restarts and tells of all daemons, or of one; without systemd, too."""
        self.run_on(1, INIT)
        script = "/etc/init.d/ganeti"
        for word in ("service ganeti", script):
            self.run_on(1, f"{word} stop; while pgrep -f 'bin/gan[e]ti-'; do sleep 0.1; done")
            self.assertEqual(self.users(1), {})
            self.run_on(
                1, f"{word} start; until test -e /var/run/ganeti/ganeti-rapi.pid && gnt-node list; do sleep 0.1; done"
            )
            self.check(1)
        before = self.run_on(1, "cat /var/run/ganeti/ganeti-*.pid")
        self.run_on(1, f"{script} restart && gnt-node list")
        self.assertEqual(set(before.split()) & set(self.run_on(1, "cat /var/run/ganeti/ganeti-*.pid").split()), set())
        self.run_on(1, f"{script} stop ganeti-rapi")
        self.assertNotIn("ganeti-rapi", self.users(1))
        self.run_on(1, f"{script} start ganeti-rapi; {script} status ganeti-noded | grep 'active (running)'")
        self.run_on(1, f"{script} start nonsense", 3)
        self.run_on(1, f"{script} stop; sed 's,/run/systemd/system,/nonexistent,' {script} > /root/ganeti")
        self.assertEqual(self.run_on(1, "sh /root/ganeti status", 3).count("does not run"), 5)
        self.run_on(1, "sh /root/ganeti start && sh /root/ganeti start && gnt-node list")
        self.check(1)
        self.assertIn("ganeti-master runs as process", self.run_on(1, "sh /root/ganeti status"))
        self.run_on(1, "sh /root/ganeti restart ganeti-noded && gnt-node list && sh /root/ganeti stop")
        self.assertEqual(self.users(1), {})
        forged = "/var/run/ganeti/ganeti-master.pid"  # of somebody in the daemons' group, who names a process of root's
        self.run_on(1, "sleep 1000 > /dev/null 2>&1 & echo $! > /root/victim")
        self.run_on(1, f"install -o gnt-confd -m 644 /root/victim {forged}; flock {forged} sleep 60 > /dev/null 2>&1 &")
        self.run_on(1, "sh /root/ganeti stop; kill -0 $(cat /root/victim)")

    def test_units(self) -> None:
        """What a daemon that was taken over could do is little, by systemd's own measure; without units ganeti-setup is named."""
        for daemon, most in EXPOSED.items():
            said = self.run_on(1, f"systemd-analyze security --no-pager {daemon}").splitlines()[-1]
            self.assertLess(float(said.split(":")[1].split()[0]), most, said)
        self.run_on(1, "rm /etc/systemd/system/ganeti-*.service && systemctl daemon-reload")
        self.assertIn("systemd knows no unit ganeti-noded; run ganeti-setup", self.run_on(1, INIT, 1))


class SetupTests(NodesCase):
    """ganeti-setup on a machine that has run it already."""

    count = 1

    def test_again(self) -> None:
        """Once more, it changes nothing; it completes commands; and taken away, nothing of it is left."""
        self.assertNotRegex(self.run_on(1, "ganeti-setup"), "(?m)^(wrote|linked)")
        complete = (
            ". /etc/bash_completion.d/ganeti; COMP_WORDS=(gnt-node %s); COMP_CWORD=%d; _ganeti; echo ${COMPREPLY[*]}"
        )
        self.assertEqual(self.run_on(1, f"bash -c '{complete % ('modi', 1)}'"), "modify modify-storage\n")
        self.assertIn("--auto-promote", self.run_on(1, f"bash -c '{complete % ('modify --a', 2)}'"))
        self.run_on(1, "echo mine > /etc/logrotate.d/ganeti")
        self.assertIn("/etc/logrotate.d/ganeti is not from ganeti-setup", self.run_on(1, "ganeti-setup", 1))
        self.assertIn("dry run: removed", self.run_on(1, "ganeti-setup --remove --dry-run"))
        self.run_on(1, "ganeti-setup --remove")
        # of Debian's packages that this machine has, one is named so, too
        left = r"find /etc /usr/local/sbin -not -type d \( -name '*ganeti*' -o -name 'gnt-*' \) ! -name '*debootstrap'"
        self.assertEqual(self.run_on(1, left).split(), ["/etc/logrotate.d/ganeti"])
        self.assertIn("gnt-masterd", self.run_on(1, "getent passwd gnt-masterd"))

    def test_in_a_cluster(self) -> None:
        """After an upgrade it names the daemons that are to be restarted; taken away, it leaves none without its unit."""
        self.run_on(1, "mkdir -p /etc/ganeti && echo /srv/ganeti/file-storage > /etc/ganeti/file-storage-paths")
        self.assertNotIn("systemctl restart", self.run_on(1, "ganeti-setup"))
        self.run_on(1, INIT)
        daemons = "ganeti-confd ganeti-master ganeti-mond ganeti-noded ganeti-rapi"
        self.assertIn(f"'systemctl restart {daemons}'", self.run_on(1, "ganeti-setup"))
        self.run_on(1, "ganeti-setup --remove")
        self.assertEqual(self.run_on(1, "pgrep -f 'bin/gan[e]ti-'", 1), "")
