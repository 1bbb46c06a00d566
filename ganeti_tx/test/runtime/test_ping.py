"""Who answers at an address."""

import os
import socket
import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.node_port import NODE_PORT
from ganeti_tx.runtime.ping import answers

#: Run in a network of its own: somebody listens, somebody only is there, and nobody is.
ASK = f"""
import socket, subprocess
from ganeti_tx.runtime.ping import answers
run = lambda words: subprocess.run(words.split(), check=True)
run("ip link set lo up")
run("ip link add br0 type bridge")
run("ip link set br0 up")
for address in ("192.0.2.1/24", "192.0.2.2/24"):
    run(f"ip addr add {{address}} dev br0")
run("ip addr add 2001:db8::1/128 dev lo")
with socket.create_server(("192.0.2.1", {NODE_PORT})):
    print(*[answers(each) for each in ("192.0.2.1", "192.0.2.2", "2001:db8::1", "192.0.2.3", "198.51.100.1")])
"""


class PingTests(SynchronousTestCase):
    """A network namespace."""

    def test_network(self) -> None:
        """A host that listens answers, and so does one that refuses; where nobody is, or no way leads, nobody does."""
        asked = subprocess.run(
            ["unshare", "-n", sys.executable, "-c", ASK], capture_output=True, text=True, env=os.environ, timeout=60
        )
        if "unshare" in asked.stderr:
            self.skipTest(asked.stderr.strip())
        self.assertEqual((asked.stdout.split(), asked.stderr), (["True"] * 3 + ["False"] * 2, ""))

    def test_loopback(self) -> None:
        """Every machine has all of these itself."""
        with socket.create_server(("127.0.0.1", 0)):
            self.assertFalse(answers("127.0.0.1"))
        self.assertFalse(answers("::1"))
