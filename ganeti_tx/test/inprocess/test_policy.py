"""What the policies of groups and of the cluster keep out, in a whole cluster."""

import re

from ganeti_tx.test.inprocess.case import ClusterCase

ADD = "gnt-instance add -t sharedfile -s 1G -o noop --no-name-check --no-ip-check"
TWO_PROCESSORS = (
    "--ipolicy-bounds-specs min:cpu-count=1,disk-count=0,disk-size=1M,memory-size=1M,nic-count=0,spindle-use=1"
    "/max:cpu-count=2,disk-count=8,disk-size=100G,memory-size=16G,nic-count=4,spindle-use=8"
)
FAULT = re.escape(") violates policy: cpu-count value 4 is not in range [1, 2]")


class PolicyTests(ClusterCase):
    """web1 has four processors, which group rack2 does not admit; node3 is in it."""

    def setUp(self) -> None:
        super().setUp()
        self.ok("gnt-group add rack2")
        self.ok(f"gnt-group modify {TWO_PROCESSORS} rack2")
        self.ok("gnt-group assign-nodes rack2 node3")
        self.ok(f"{ADD} -B vcpus=4 -n node1 web1")

    def refused(self, line: str, reason: str = FAULT) -> None:
        """It is wrong input, and nothing is changed; with --ignore-ipolicy it is done, and warned of."""
        before = self.cluster.config
        self.fails(line, f"wrong_input.*\n.*{reason}")
        self.assertEqual(self.cluster.config, before)
        program, command, *rest = line.split()
        said = self.ok(" ".join((program, command, "--ignore-ipolicy", *rest)))
        self.assertRegex(said, f"WARNING: .*{reason}; ignored, as asked for")

    def test_made(self) -> None:
        """A new one."""
        self.refused(f"{ADD} -B vcpus=4 -n node3 web2")

    def test_changed(self) -> None:
        """One that is changed; what it has already is no reason."""
        self.ok(f"{ADD} -B vcpus=2 -n node3 web2")
        self.refused("gnt-instance modify -B vcpus=4 web2")

    def test_moved(self) -> None:
        """One that comes to another group; it leaves it again as it likes."""
        self.refused("gnt-instance failover -f -n node3 web1")
        self.ok("gnt-instance migrate -f -n node1 web1")

    def test_life(self) -> None:
        """One that fits no more is named when the policy is changed and by verification, and lives on."""
        said = self.ok(f"gnt-group modify {TWO_PROCESSORS} default")
        self.assertIn("WARNING: After the ipolicy change the following instances violate them: web1\n", said)
        self.assertNotIn("WARNING", self.ok(f"gnt-cluster modify {TWO_PROCESSORS}"))
        said = self.ok("gnt-cluster verify --error-codes")
        self.assertIn("WARNING:EINSTANCEPOLICY:instance:web1:cpu-count value 4 is not in range [1, 2]", said)
        for line in ("shutdown web1", "startup web1", "reboot web1", "failover -f -n node2 web1"):
            self.ok(f"gnt-instance {line}")

    def test_cluster(self) -> None:
        """The cluster's counts where a group has none of its own, and is told of when it is changed."""
        said = self.ok(f"gnt-cluster modify {TWO_PROCESSORS}")
        self.assertIn("WARNING: After the ipolicy change the following instances violate them: web1\n", said)
        self.fails(f"{ADD} -B vcpus=4 -n node1 web2", FAULT)

    def test_templates(self) -> None:
        """Templates that are not allowed."""
        self.ok("gnt-group modify --ipolicy-disk-templates=diskless rack2")
        self.refused(
            f"{ADD} -B vcpus=2 -n node3 web2",
            re.escape("Disk template sharedfile is not allowed (allowed templates diskless)"),
        )
