"""The watcher as systemd's timer starts it."""

import time

from ganeti_tx.test.nodes.cluster_case import SystemdClusterCase

ADD = (
    "gnt-instance add -t file --disk 0:size=64M -n node2.example.com -o busybox+default -B memory=128 --no-install "
    "--net 0:link=br0 --ignore-ipolicy web1.example.com && gnt-instance startup web1.example.com"
)
#: Nobody waits for five minutes here.
OFTEN = "/etc/systemd/system/ganeti-watcher.timer.d"
SOONER = (
    f"mkdir -p {OFTEN} && printf '[Timer]\\nOnCalendar=\\nOnCalendar=*:*:0/10\\nAccuracySec=1s\\n' > {OFTEN}/often.conf "
    "&& systemctl daemon-reload && systemctl restart ganeti-watcher.timer"
)
TIMERS = ["ganeti-cleaner-master.timer", "ganeti-cleaner-node.timer", "ganeti-watcher.timer"]
#: Seconds within which an instance must be back.
LIMIT = 300.0


class TimerTests(SystemdClusterCase):
    """Two nodes that watch themselves."""

    count = 2
    watched = True

    def timers(self, node: int) -> list[str]:
        """Which wait for their time."""
        listed = self.run_on(node, "systemctl list-units --plain --no-legend --state=active 'ganeti-*.timer'")
        return sorted(line.split()[0] for line in listed.splitlines() if line.strip())

    def becomes(self, wanted: str) -> None:
        """The instance's status does, in time."""
        deadline = time.monotonic() + LIMIT
        while (status := self.status(1)) != wanted and time.monotonic() < deadline:
            time.sleep(1)
        self.assertEqual(status, wanted, self.run_on(1, "cat /var/log/ganeti/watcher.log", status=None))

    def test_instances_come_back(self) -> None:
        """Timers run before there is a cluster, too. After a boot of its node, or of the master, an instance comes back."""
        for node in self.nodes.numbers:
            self.assertEqual(self.timers(node), TIMERS)
            self.run_on(node, f"{SOONER} && systemctl start ganeti-watcher ganeti-cleaner-node ganeti-cleaner-master")
            self.assertEqual(self.nodes.failed_units(node), [])
        self.init()
        self.add_nodes()
        self.run_on(1, ADD)
        self.check_status(1, "running")
        for node in (2, 1):
            self.nodes.reboot(node)
            self.run_on(node, "systemctl start ganeti-noded")
            if node == 1:
                self.run_on(1, "systemctl start ganeti-master && rm /run/ganeti/fake-hypervisor/* || true")
                self.run_on(2, "rm /run/ganeti/fake-hypervisor/web1.example.com")
            self.becomes("running")
        for node in self.nodes.numbers:
            self.run_on(node, "systemctl start ganeti-watcher ganeti-cleaner-node ganeti-cleaner-master")
            self.assertEqual(self.nodes.failed_units(node), [])
        owner = self.run_on(1, "stat -c '%U %a' /var/log/ganeti/watcher.log /var/log/ganeti/master-cleaner/*")
        self.assertEqual(owner.split("\n")[:2], ["root 600", "gnt-masterd 600"])
