"""Commands and words about daemons, with systemd and without."""

import re
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.daemon_control import READY_LIMIT, SYSTEMD, DaemonControl, last_line, not_started, reason
from ganeti_tx.runtime.shipped import shipped


class DaemonControlTests(SynchronousTestCase):
    """Both kinds of nodes."""

    def test_who_rules(self) -> None:
        """systemd rules a node that is the whole machine, when it runs there."""
        self.assertTrue(DaemonControl.at(Path("/"), {SYSTEMD}.__contains__).by_systemd)
        self.assertFalse(DaemonControl.at(Path("/"), set[Path]().__contains__).by_systemd)
        self.assertFalse(DaemonControl.at(Path("/srv/node1"), {SYSTEMD}.__contains__).by_systemd)
        self.assertFalse(DaemonControl.here({"GANETI_ROOTDIR": "/srv/node1"}).by_systemd)

    def test_systemd(self) -> None:
        """Units are started and stopped, the journal is the log."""
        control = DaemonControl(True)
        self.assertEqual(control.start_argv("ganeti-rapi", str.upper), ["systemctl", "start", "ganeti-rapi"])
        self.assertEqual(control.stop_argv(("a", "b")), ["systemctl", "stop", "a", "b"])
        self.assertEqual(control.command("restart", "ganeti-rapi"), "systemctl restart ganeti-rapi")
        self.assertEqual(control.log("ganeti-rapi", Path("/log")), "journalctl -u ganeti-rapi")

    def test_limits(self) -> None:
        """A daemon's own program, and systemd, give up first: their reason is told, and nothing comes up that was given up."""
        self.assertLess(READY_LIMIT, DaemonControl(False).start_limit)
        limits = re.compile(r"^TimeoutStartSec=(\d+)$", re.MULTILINE)
        units = {unit.name: unit.read_text() for unit in shipped("systemd").glob("ganeti-*.service")}
        programs = {name: text.count("\nExecStart") for name, text in units.items() if "Type=notify" in text}
        self.assertIn("ganeti-master.service", programs)
        for name, number in programs.items():
            self.assertLess(number * int(limits.findall(units[name])[0]), DaemonControl(True).start_limit, name)

    def test_programs(self) -> None:
        """A daemon's own program starts it, signals end it, and it has a log file."""
        control = DaemonControl(False)
        self.assertEqual(control.start_argv("ganeti-rapi", str.upper), ["GANETI-RAPI"])
        self.assertEqual((control.stop_argv(("a",)), control.reason_argv("a")), (None, None))
        self.assertEqual(control.command("start", "ganeti-rapi"), "ganeti-rapi")
        self.assertEqual(control.command("restart", "ganeti-rapi"), "restart ganeti-rapi")
        self.assertEqual(control.log("ganeti-rapi", Path("/log")), "/log")

    def test_reason(self) -> None:
        """What a daemon told systemd last, if that was why it gave up."""
        self.assertEqual(reason("ConditionResult=yes\nStatusText=fatal: a=b\n"), "a=b")
        self.assertEqual(reason("StatusText=all is well\nConditionResult=yes\n"), "")
        self.assertIn("conditions", reason("StatusText=\nConditionResult=no\n"))

    def test_not_started(self) -> None:
        """The first reason there is, without what the daemon says before it."""
        told = not_started("ganeti-rapi", ["", last_line("\n", "x\nganeti-rapi: fatal: port\n \n")], "/log")
        self.assertEqual(told, "ganeti-rapi did not start: port; see /log")
        self.assertIn("without a word", not_started("ganeti-rapi", ["", ""], "/log"))
        told = not_started(
            "ganeti-rapi", ["conditions", "Failed to start it: Unit ganeti-rapi.service not found."], "/log"
        )
        self.assertEqual(
            told,
            "ganeti-rapi did not start: systemd knows no unit ganeti-rapi; run ganeti-setup, which puts it in place",
        )
