"""Limits of machines, and machines whose node's daemon goes, under systemd with version 2 of control groups."""

from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.on_node import DAEMON, NodeCase

SLICE = "/sys/fs/cgroup/ganeti.slice/ganeti-instances.slice"
LIMITED, FREE = "limited.lab.example", "free.lab.example"
LIMITS = "cpu_limit=50,cpu_weight=50,io_weight=200,memory_limit=256"
#: What the kernel has then.
FILES = {
    "cpu.max": "50000 100000",
    "cpu.weight": "50",
    "io.weight": "default 200",
    "memory.max": "268435456",
}
MAIN_PID = f"systemctl show -P MainPID {DAEMON}"


class LimitTests(NodeCase):
    """One machine with limits, one without."""

    def test_scopes(self) -> None:
        """Each is in a scope, with its limits, whatever becomes of the daemon; the scope goes with the machine."""
        self.assertEqual(self.machine.run("stat -f -c %T /sys/fs/cgroup"), "cgroup2fs\n")
        self.add(LIMITED, parameters=LIMITS)
        self.add(FREE)
        groups = {name: self.group(name) for name in (LIMITED, FREE)}
        self.check(groups)
        before = self.pid()
        self.machine.run(f"systemctl daemon-reload && systemctl restart {DAEMON}", limit=600.0)
        self.assertNotEqual(self.pid(), before)
        self.check(groups)
        before = self.pid()
        self.machine.run(f"systemctl kill --signal=KILL {DAEMON}")
        self.until(lambda: self.pid() not in ("0", before) and self.is_active(), f"{DAEMON} is started again")
        self.check(groups)
        for name in groups:
            self.assertEqual(self.status(name), "running")
            self.ok("gnt-instance", "reboot", "-t", "hard", "--shutdown-timeout", "0", name)
        self.check(groups)
        for name in groups:
            self.ok("gnt-instance", "shutdown", name)
        self.until(lambda: not self.machine.ended(f"ls -d {SLICE}/*.scope").stdout, "no scope is left")

    def test_ended_by_itself(self) -> None:
        """A machine that is killed beyond its memory leaves no scope, and the daemon clears away the rest."""
        self.add(LIMITED, parameters="memory_limit=64")
        group = self.group(LIMITED)
        self.machine.run(f"echo 1M > {group}/memory.max")
        self.until(lambda: self.machine.ended(f"ls -d {group}").returncode != 0, "the scope is gone")
        self.until(lambda: self.status(LIMITED) == "ERROR_down", "it is known to be down")
        self.assertIn("oom", self.machine.run("dmesg | grep -i oom-kill | tail -n 1"))

    def group(self, name: str) -> str:
        """Its control group."""
        uuid = self.ok("gnt-instance", "list", "--no-headers", "-o", "uuid", name).strip()
        return f"{SLICE}/ganeti-instance-{uuid}.scope"

    def check(self, groups: dict[str, str]) -> None:
        """They run there, go on, and are limited."""
        for name, group in groups.items():
            self.assertIn(f"-name\0{name},", self.machine.run(f"cat /proc/$(head -n 1 {group}/cgroup.procs)/cmdline"))
            guest.counted(self.machine, name, guest.ticks(self.machine, name)[-1])
        shown = {name: self.machine.run(f"cat {groups[LIMITED]}/{name}").strip() for name in FILES}
        self.assertEqual(shown, FILES)
        self.assertEqual(self.machine.run(f"cat {groups[FREE]}/memory.max"), "max\n")

    def pid(self) -> str:
        """The daemon's."""
        return self.machine.run(MAIN_PID).strip()

    def is_active(self) -> bool:
        """Whether the daemon is ready."""
        return self.machine.ended(f"systemctl is-active --quiet {DAEMON}").returncode == 0
