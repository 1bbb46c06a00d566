"""Debian's placement programs look at a cluster of ours, over LUXI and over the Remote API, and balance it."""

import re
import tempfile
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed
from ganeti_tx.test.real.placement_programs import Ended, moves, run, why_not
from ganeti_tx.test.real.rapi_daemon import PASSWORD, PORT, USER, RapiUnderTest

TEMPLATES = ("sharedfile", "file", "diskless")
OPTIONS = ("--enabled-hypervisors=fake", f"--enabled-disk-templates={','.join(TEMPLATES)}")
ADD = (
    "gnt-instance add --submit -o busybox+default --no-install --no-start --no-name-check --no-ip-check "
    "--ignore-ipolicy -n node1 -B memory=1024"
)
#: Moved while they run, moved while they are down, and not to be moved.
RUNNING, DOWN, STAYING = ("web1", "web2", "web3"), "web4", ("local1", "none1")
#: Nodes are not bad because this machine's disk is nearly full.
BALANCING = "-G default --min-disk=0.001"
#: Sums of what the nodes have; how much of it is free changes from one look to the next.
LASTING = re.compile(r"^HTS_(?:CLUSTER_(?:MEM|CPU|VCPU|SPN)|INI_INST_CNT|SPEC_\w+)=.*$", re.MULTILINE)


class PlacementTests(SynchronousTestCase):
    """Three nodes in one group and one in another; all instances are on the first node."""

    skip = why_not() or (None if commands_are_installed() else "the commands are not beside this Python")

    def setUp(self) -> None:
        self.cluster = DevClusterUnderTest(OPTIONS, nodes=4)
        self.addCleanup(self.cluster.close)
        self.cluster.ok("gnt-group add rack2")
        self.cluster.ok("gnt-group assign-nodes rack2 node4")
        for name in (*RUNNING, DOWN):
            self.cluster.ok(f"{ADD} -t sharedfile -s 1M {name}.dev.example")
        for name, template in zip(STAYING, ("file -s 1M", "diskless"), strict=True):
            self.cluster.ok(f"{ADD} -t {template} {name}.dev.example")
        self.await_jobs()
        self.cluster.ok(f"gnt-instance startup --force-multiple {' '.join(RUNNING)}")
        rapi = RapiUnderTest(self.cluster)
        #: The certificate is nobody's whom they know; they take any.
        self.sources = ("-L", f"-m https://{rapi.host}:{PORT}", f"-m https://{USER}:{PASSWORD}@{rapi.host}:{PORT}")

    def await_jobs(self) -> None:
        """Until none is left; all have succeeded."""
        for job, status in self.jobs().items():
            if status != "success":
                self.cluster.ok(f"gnt-job watch {job}")
        self.assertEqual(set(self.jobs().values()), {"success"})

    def jobs(self) -> dict[int, str]:
        """Their statuses by their numbers."""
        listed = [line.split() for line in self.cluster.ok("gnt-job list --no-headers -o id,status").splitlines()]
        return {int(job): status for job, status in listed}

    def places(self) -> dict[str, tuple[str, str]]:
        """Node and status of each instance."""
        listed = self.cluster.ok("gnt-instance list --no-headers -o name,pnode,status").replace(".dev.example", "")
        return {name: (node, status) for name, node, status in map(str.split, listed.splitlines())}

    def program(self, line: str, status: int = 0) -> Ended:
        """One that ends with a status, and has understood everything."""
        ended = run(self.cluster.layout.master, line)
        self.assertEqual(ended.status, status, (line, ended))
        self.assertNotIn("rror", ended.err, line)
        return ended

    def test_programs(self) -> None:
        """They see the same by each way; hbal's moves are carried out, and then there is nothing more to do."""
        for source in self.sources[:2]:
            self.inspect(source)
        self.same_capacity()
        self.gathers()
        self.repairs_nothing()
        self.balances()

    def inspect(self, source: str) -> None:
        """What there is, what would fit, in which order nodes can be rebooted, and that it is out of balance."""
        self.assertIn("Loaded 4 nodes, 6 instances, 2 node groups\n", self.program(f"hinfo {source}").out)
        listed = self.program(f"hinfo {source} -p").err
        for node in ("node1", "node2", "node3", "node4"):
            self.assertRegex(listed, rf"(?m)^ +{node} ")
        planned = moves(self.program(f"hbal {source} {BALANCING}").out)
        self.assertEqual(planned.keys(), {*RUNNING, DOWN})
        self.assertEqual(set(planned.values()), {"node2", "node3"})
        rebooted = self.program(f"hroller {source} -G default --offline-maintenance --no-headers").out
        self.assertEqual(sorted(re.findall(r"node\d", rebooted)), ["node1", "node2", "node3"])
        told = self.program(f"hcheck {source} --machine-readable=yes", status=1).out
        self.assertIn("HCHECK_INIT_CLUSTER_NEED_REBALANCE=1\n", told)
        self.assertIn("HCHECK_OK=1\n", told)

    def same_capacity(self) -> None:
        """What the cluster has and what would fit does not depend on who is asked."""
        found = [self.program(f"hspace {source} --machine-readable=yes").out for source in self.sources]
        known = [sorted(LASTING.findall(each)) for each in found]
        self.assertIn("HTS_INI_INST_CNT=6", known[0])
        self.assertEqual(known, [known[0]] * len(known))

    def gathers(self) -> None:
        """hscan writes what it has read into files, which the others read."""
        with tempfile.TemporaryDirectory(prefix="gtx") as directory:
            self.program(f"hscan {self.sources[0]} -d {directory}")
            self.program(f"hscan -d {directory} {self.sources[1].split()[1]}")
            files = sorted(Path(directory).iterdir())
            self.assertEqual(len(files), 2)
            for file in files:
                self.assertIn("Loaded 4 nodes, 6 instances, 2 node groups\n", self.program(f"hinfo -t {file}").out)

    def repairs_nothing(self) -> None:
        """harep finds all instances healthy."""
        self.assertIn("Healthy: 6\n", self.program("harep -L").out)

    def balances(self) -> None:
        """The instances are where hbal said in the end, as they were; every job has succeeded; it is in balance."""
        before, jobs = self.places(), set(self.jobs())
        said = self.program(f"hbal -L {BALANCING} -X").out
        wanted = moves(said)
        self.assertEqual(wanted.keys(), {*RUNNING, DOWN})
        started = {int(number) for line in re.findall(r"Got job IDs (.*)", said) for number in line.split(",")}
        self.await_jobs()
        self.assertEqual(set(self.jobs()) - jobs, started)
        self.assertEqual(len(started), len(wanted))
        expected = {name: (wanted.get(name, node), status) for name, (node, status) in before.items()}
        self.assertEqual(self.places(), expected)
        self.assertEqual([expected[name][1] for name in RUNNING], ["running"] * len(RUNNING))
        self.assertEqual(moves(self.program(f"hbal -L {BALANCING}").out), {})
        self.cluster.ok("gnt-cluster verify")
