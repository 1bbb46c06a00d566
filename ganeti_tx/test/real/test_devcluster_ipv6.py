"""A devcluster with IPv6, in a network of its own, in which the loopback interface has what it is given."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import rmtree

from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.test.real.devcluster import commands_are_installed

LIFE = """
set -e
ip link set lo up
ip -6 address add ::1/128 dev lo 2> /dev/null || ip -6 address show dev lo | grep -q ::1 || { echo no IPv6; exit 0; }
run() { "$PROGRAM" "$1" --root "$TOP" "${@:2}"; }
trap 'run down > /dev/null' EXIT
run up --nodes 2 --primary-ip-version 6 --no-supervisor -- --enabled-hypervisors=fake > /dev/null
run run -- gnt-cluster verify
run run -- gnt-node list --no-headers -o pip,sip
run run -- gnt-instance add -t sharedfile -s 64M -n node2 -o busybox+default --no-name-check --no-ip-check \
  --ignore-ipolicy -B memory=128 web1.dev.example > /dev/null
run run -- gnt-instance list --no-headers -o pnode,status
run run --node node2 -- ganeti-confd-client candidates
trap - EXIT
run down > /dev/null
ip -6 address show dev lo | grep -c inet6
"""
#: Seconds for all of it.
LIMIT = 300


class DevclusterTests(TestCase):
    """One life of a cluster."""

    timeout = LIMIT + 30

    def test_life(self) -> None:
        """It comes up, is sound, has an instance, and leaves no address behind."""
        if os.geteuid() != 0 or not commands_are_installed():
            raise SkipTest("needs root, and the commands beside this Python (pip install -e .)")
        top = tempfile.mkdtemp(prefix="gtx6")
        self.addCleanup(rmtree, top, ignore_errors=True)
        environment = {
            **os.environ,
            "TOP": f"{top}/c",
            "PROGRAM": str(Path(sys.executable).parent / "ganeti-devcluster"),
        }
        done = subprocess.run(
            ["unshare", "--net", "bash", "-c", LIFE],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        if "unshare" in done.stderr or done.stdout == "no IPv6\n":
            raise SkipTest(f"no network of its own with IPv6: {done.stderr.strip()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("ERROR", done.stdout)
        *_, first, second, instance, one, other, left = done.stdout.splitlines()
        addresses = [line.split()[0] for line in (first, second)]
        self.assertTrue(all(address.startswith("fd") for address in addresses))
        self.assertTrue(all(line.split()[1].startswith("127.") for line in (first, second)))
        self.assertEqual(instance.split(), ["node2.dev.example", "running"])
        self.assertEqual((sorted((one, other)), left), (sorted(addresses), "1"))
