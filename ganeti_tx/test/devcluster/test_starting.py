"""Starting the daemons of several nodes."""

import tempfile
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.layout import Layout, plan
from ganeti_tx.devcluster.up import start_beside

#: Ends well when another one has begun, too.
MEETING = """#!/bin/sh
touch "$GANETI_ROOTDIR/begun"
for look in $(seq 300); do
    [ -e "$GANETI_ROOTDIR/../node1/begun" ] && [ -e "$GANETI_ROOTDIR/../node2/begun" ] && exit 0
    sleep 0.1
done
exit 1
"""
NOTING = """#!/bin/sh
echo "$0" >> "$GANETI_ROOTDIR/order"
"""


class StartingTests(SynchronousTestCase):
    """Two nodes, with scripts for daemons."""

    def setUp(self) -> None:
        """Nothing but their directories."""
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.layout: Layout = plan(Path(directory.name) / "c", 2)
        for node in self.layout.nodes:
            node.root.mkdir(parents=True)

    def script(self, name: str, text: str) -> str:
        """A program."""
        path = self.layout.root / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def test_nodes_beside_each_other(self) -> None:
        """Nodes do not wait for each other."""
        start_beside({node: [self.script("meeting", MEETING)] for node in self.layout.nodes})

    def test_order(self) -> None:
        """A node's own daemons are started one after the other."""
        daemons = [self.script(name, NOTING) for name in ("noded", "master", "rapi")]
        start_beside({self.layout.master: daemons})
        self.assertEqual((self.layout.master.root / "order").read_text().split(), daemons)

    def test_failure(self) -> None:
        """What one of them says when it does not start is the error."""
        good, bad = self.script("good", NOTING), self.script("bad", "#!/bin/sh\necho no such network >&2\nexit 1\n")
        first, second = self.layout.nodes
        error = self.assertRaises(DevclusterError, start_beside, {first: [good], second: [bad, good]})
        self.assertIn("no such network", str(error))
        self.assertEqual([node for node in self.layout.nodes if (node.root / "order").exists()], [first])
