"""Operating systems of a whole cluster: what is shown of them, what is set for them, and what follows for instances."""

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.node import OS_NAME

ADD = "gnt-instance add -t diskless --no-start -n node2"


class OsTests(ClusterCase):
    """Three nodes that have one OS definition; its verify script accepts what the test says."""

    def limit(self, node: int, *hypervisors: str) -> None:
        """Have the definition on a node say what it can be installed under."""
        member = self.cluster.node(node)
        path = self.cluster.paths.os_search_path[0] / OS_NAME / "hypervisors"
        put(member.disk, path, "".join(f"{each}\n" for each in hypervisors).encode())

    def test_hypervisors(self) -> None:
        """An OS is installed under the hypervisors that it names only; diagnose and info show them."""
        self.assertNotIn("hypervisors", self.ok("gnt-os diagnose") + self.ok("gnt-os info"))
        self.limit(2, "xen-pvm", "kvm")
        self.assertEqual(self.ok("gnt-os diagnose").count("[hypervisors: xen-pvm, kvm]"), 1)
        self.assertIn("  - hypervisors:\n    - kvm\n    - xen-pvm\n", self.ok("gnt-os info noop"))
        refused = "OS 'noop' cannot be installed under hypervisor fake; allowed: xen-pvm, kvm"
        self.fails(f"{ADD} -o noop -H fake web1", refused)
        self.assertEqual(dict(self.cluster.config.instances), {})
        self.limit(2, "fake")
        self.ok(f"{ADD} -o noop -H fake web1")

    def test_groups(self) -> None:
        """Diagnose asks the nodes of each group by a job of its own, or those of one group."""
        whole = self.ok("gnt-os diagnose")
        self.assertEqual(whole.count("  Node: "), 3)
        self.ok("gnt-group add other")
        self.ok("gnt-group assign-nodes other node3")
        jobs = len(self.ok("gnt-job list --no-headers").splitlines())
        self.assertEqual(self.ok("gnt-os diagnose"), whole)
        self.assertEqual(len(self.ok("gnt-job list --no-headers").splitlines()), jobs + 2)
        self.assertEqual(self.ok("gnt-os diagnose other").count("  Node: "), 1)
        self.fails("gnt-os diagnose nosuch", "nosuch")
        self.cluster.node(3).disk.remove(self.cluster.paths.os_search_path[0] / OS_NAME / "create")
        said = self.scene().run(["gnt-os", "diagnose"])
        self.assertEqual(said[0], 1)
        self.assertIn("OS: noop [global status: partial valid]", said[1])

    def test_seen(self) -> None:
        """Hidden ones are not listed, black-listed ones are not installed any more; vain changes are told of."""
        self.ok("gnt-os modify --hidden=yes noop")
        self.assertIn("OS noop already in hidden OS list, ignoring", self.ok("gnt-os modify --hidden=yes noop"))
        self.assertEqual(self.ok("gnt-os list --no-headers"), "")
        self.assertIn("OS: noop [global status: valid] [hidden]\n", self.ok("gnt-os diagnose"))
        self.ok(f"{ADD} -o noop web1")
        self.ok("gnt-os modify --hidden=no --blacklisted=yes noop")
        self.assertEqual(self.ok("gnt-os list --no-headers"), "")
        self.assertIn("  - hidden: False\n  - blacklisted: True\n", self.ok("gnt-os info"))
        self.fails(f"{ADD} -o noop web2", "wrong_state.*\\n.*Guest OS 'noop' is not allowed for installation")
        self.ok("gnt-os modify --blacklisted=no noop")
        self.ok(f"{ADD} -o noop web2")

    def test_parameters(self) -> None:
        """What is set for an OS reaches its instances, and nodes refuse what its script refuses."""
        self.ok("gnt-os modify -O flavour=salty -H kvm:acpi=no noop")
        cluster = self.cluster.config.cluster
        self.assertEqual(dict(cluster.osparams), {"noop": {"flavour": "salty"}})
        self.fails("gnt-os modify -O colour=red noop", "not supported by the OS noop: colour; allowed: flavour")
        self.fails("gnt-os modify -H nosuch:a=1 noop", "hypervisor 'nosuch' is not known")
        script = str(self.cluster.paths.os_search_path[0] / OS_NAME / "verify")
        self.cluster.node(3).scripts.script([script, "parameters"], ProcessResult(status=1, stderr=b"too sweet\n"))
        self.fails("gnt-os modify -O flavour=sweet noop", "too sweet")
        self.assertEqual(self.cluster.config.cluster, cluster)
        self.cluster.node(3).scripts.script([script, "parameters"], ProcessResult(status=0))
        self.ok("gnt-os modify -O flavour=default noop")
        self.assertEqual(dict(self.cluster.config.cluster.osparams), {})
