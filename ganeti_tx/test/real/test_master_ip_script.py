"""The shipped master-ip-setup, run with programs beside it that only write down what they were told."""

import os
import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.shipped import shipped

SCRIPT = shipped("tools/master-ip-setup")
LIMIT = 20
IP = """#!/bin/sh
case "$*" in
  *show*) [ ! -e "$STATE" ] || cat "$STATE" ;;
  *) echo "ip $*" >> "$SAID"; [ ! -e "$REFUSE" ] || { echo "Operation not permitted" >&2; exit 2; } ;;
esac
"""
SAYS = '#!/bin/sh\necho "$(basename "$0") $*" >> "$SAID"\n'


class ScriptTests(SynchronousTestCase):
    """One run each."""

    def setUp(self) -> None:
        """A search path with an ip that knows what STATE says, and arping."""
        self.top = Path(self.mktemp()).absolute()
        self.top.mkdir()
        for name, text in (("ip", IP), ("arping", SAYS)):
            (self.top / name).write_text(text)
            (self.top / name).chmod(0o755)

    def run_script(self, verb: str, address: str = "192.0.2.100", **changes: str) -> "subprocess.CompletedProcess[str]":
        """Run it."""
        environment = {
            "PATH": f"{self.top}:{os.environ['PATH']}",
            "SAID": str(self.top / "said"),
            "STATE": str(self.top / "state"),
            "REFUSE": str(self.top / "refuse"),
            "MASTER_IP": address,
            "MASTER_NETDEV": "eth0",
            "MASTER_NETMASK": "24",
            "CLUSTER_IP_VERSION": "4",
            **changes,
        }
        argv = [str(SCRIPT), verb]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)

    def said(self) -> list[str]:
        """What was done."""
        path = self.top / "said"
        return path.read_text().splitlines() if path.exists() else []

    def has_address(self) -> None:
        """The device has it."""
        (self.top / "state").write_text("2: eth0    inet 192.0.2.100/24 scope global eth0\\       valid_lft forever\n")

    def test_start(self) -> None:
        """The address is added and the neighbours are told; again, nothing is done."""
        self.assertEqual(self.run_script("start").returncode, 0)
        wanted = ["ip -4 address add 192.0.2.100/24 dev eth0", "arping -q -U -c 3 -I eth0 192.0.2.100"]
        self.assertEqual(self.said(), wanted)
        self.has_address()
        self.assertEqual(self.run_script("start").returncode, 0)
        self.assertEqual(self.said(), wanted)

    def test_stop(self) -> None:
        """An address that is there goes; one that is not there is no error."""
        self.assertEqual(self.run_script("stop").returncode, 0)
        self.assertEqual(self.said(), [])
        self.has_address()
        self.assertEqual(self.run_script("stop").returncode, 0)
        self.assertEqual(self.said(), ["ip -4 address del 192.0.2.100/24 dev eth0"])

    def test_like_another(self) -> None:
        """An address that only begins like the one that is there is not there."""
        self.has_address()
        self.run_script("stop", "192.0.2.10")
        self.run_script("stop", "2.0.2.100")
        self.assertEqual(self.said(), [])

    def test_loopback(self) -> None:
        """Loopback addresses are everywhere on their machine already: no rights are needed."""
        self.assertEqual(self.run_script("start", "127.1.2.254", MASTER_NETDEV="lo").returncode, 0)
        self.assertEqual(self.said(), [])

    def test_version_6(self) -> None:
        """An IPv6 address can be used at once, and is preferred for nothing; the node daemon announces it."""
        changes = {"CLUSTER_IP_VERSION": "6", "MASTER_NETMASK": "64"}
        self.assertEqual(self.run_script("start", "2001:db8::100", **changes).returncode, 0)
        wanted = ["ip -6 address add 2001:db8::100/64 dev eth0 nodad preferred_lft 0"]
        self.assertEqual(self.said(), wanted)
        line = (
            "2: eth0    inet6 2001:db8::100/64 scope global deprecated \\       valid_lft forever preferred_lft 0sec\n"
        )
        (self.top / "state").write_text(line)
        self.assertEqual(self.run_script("start", "2001:db8::100", **changes).returncode, 0)
        for other in ("db8::100", "::100"):
            self.assertEqual(self.run_script("stop", other, **changes).returncode, 0)
        self.assertEqual(self.said(), wanted)
        self.assertEqual(self.run_script("stop", "2001:db8::100", **changes).returncode, 0)
        self.assertEqual(self.said()[1:], ["ip -6 address del 2001:db8::100/64 dev eth0"])

    def test_refused(self) -> None:
        """What the system says comes through, and nobody is told of an address that is not there."""
        (self.top / "refuse").touch()
        done = self.run_script("start")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Operation not permitted", done.stderr)
        self.assertEqual(len(self.said()), 1)

    def test_wrong_use(self) -> None:
        """A missing or wrong argument is one line."""
        for verb, changes in (("restart", {}), ("start", {"MASTER_IP": ""}), ("start", {"CLUSTER_IP_VERSION": "5"})):
            done = self.run_script(verb, **changes)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1))
