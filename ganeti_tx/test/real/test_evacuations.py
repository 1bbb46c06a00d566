"""Instances leave nodes and groups of a real cluster, for where Debian's allocator or a script finds room."""

from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.runtime.allocators import PROTOCOLS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed

HAIL = Path("/usr/lib/ganeti/iallocators/hail")
SETTINGS = ("--enabled-hypervisors=fake", "--enabled-disk-templates=sharedfile,diskless,file")
ADD = "gnt-instance add -t sharedfile -s 1G -o busybox+default --no-install --no-name-check --no-ip-check"
#: It knows the first protocol only, and takes the last node by name that it is told of.
SCRIPT = """#!/usr/bin/python3
import json, sys
told = json.load(open(sys.argv[1]))
assert told["version"] == 1 and len(sys.argv) == 2, told
away = told["request"].get("relocate_from", [])
chosen = sorted(set(told["nodes"]) - set(away))[-told["request"]["required_nodes"]:]
print(json.dumps({"success": bool(chosen), "info": "none is left", "nodes": chosen}))
"""


class EvacuationTests(SynchronousTestCase):
    """A devcluster of three nodes whose instances do not really run."""

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        if not HAIL.exists():
            raise SkipTest(f"there is no {HAIL}; 'apt-get install ganeti-htools' brings it")
        self.cluster = DevClusterUnderTest(SETTINGS)
        self.addCleanup(self.cluster.close)
        self.ok = self.cluster.ok
        self.place = Paths(Path(self.cluster.layout.master.root)).iallocator_search_path[0]
        self.place.mkdir(parents=True, exist_ok=True)
        (self.place / "hail").symlink_to(HAIL)
        (self.place / "old").write_text(SCRIPT)
        (self.place / "old").chmod(0o755)
        (self.place / f"old{PROTOCOLS}").write_text("1\n")
        (self.place / "broken").write_text("#!/bin/sh\necho I am broken; exit 7\n")
        (self.place / "broken").chmod(0o755)
        self.ok("gnt-cluster modify -I hail/relocate:broken,old --default-iallocator-params no-capacity-checks")

    def places(self) -> dict[str, str]:
        """Which instance is where."""
        lines = self.ok("gnt-instance list --no-headers -o name,pnode").splitlines()
        return {line.split()[0]: line.split()[1].split(".")[0] for line in lines}

    def test_walk(self) -> None:
        """Made by a script of the first protocol, moved by it and by hail: off a node, out of a group, to a group."""
        self.ok(f"{ADD} -I old web1")
        self.ok(f"{ADD} --no-start -n node3 web2")
        self.assertEqual(self.places(), {"web1": "node3", "web2": "node3"})
        self.assertIn("All instances evacuated successfully.", self.ok("gnt-node evacuate -f -p node3"))
        self.assertNotIn("node3", self.places().values())
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3")
        self.assertIn(
            "Instance 'web1' changed group successfully.", self.ok("gnt-instance change-group --to rack2 web1")
        )
        self.ok("gnt-group evacuate --force-failover --to default rack2")
        self.assertNotIn("node3", self.places().values())
        _status, _out, err = self.cluster.run(["gnt-node", "evacuate", "-f", "-p", "node3"])
        self.assertEqual(err, "No instances to evacuate on node(s) node3, exiting.\n")
        said = self.ok("gnt-instance failover -f web2")
        self.assertIn("exited with exit code 7, output 'I am broken'; trying the next iallocator", said)
        self.assertIn("via iallocator old: ", said)
        self.assertIn('"success":true', self.ok("gnt-debug iallocator --dir=out -I hail --mode=change-group web1"))
        self.ok("gnt-cluster verify")
