"""Tests of gnt-cluster modify and redist-conf."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.cli.fakes import CommandLine


class ModifyTests(SynchronousTestCase):
    """The options and the opcode."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def submitted(self, *words: str) -> dict[str, Any]:
        """The opcode of one command line."""
        self.assertEqual(self.cli("gnt-cluster", "modify", *words), (0, "", ""))
        return self.cli.client.submitted[-1]

    def test_settings(self) -> None:
        """Plain settings and lists."""
        op = self.submitted(
            "-C", "3", "--max-running-jobs", "5", "--max-tracked-jobs=6", "--maintain-node-health=yes", "-I", "hail",
            "--uid-pool", "10-20,30", "--add-uids", "40", "--remove-uids", "10-11", "--reserved-lvs", "a.*,b",
            "--enabled-hypervisors", "kvm,fake", "--mac-prefix", "aa:bb:cc", "--data-collector-interval", "cpu=1.5",
            "--enabled-data-collectors", "cpu=no",
        )  # fmt: skip
        self.assertEqual(
            op,
            {
                "OP_ID": "OP_CLUSTER_SET_PARAMS", "candidate_pool_size": 3, "max_running_jobs": 5, "max_tracked_jobs": 6,
                "maintain_node_health": True, "default_iallocator": "hail", "uid_pool": [[10, 20], [30, 30]],
                "add_uids": [[40, 40]], "remove_uids": [[10, 11]], "reserved_lvs": ["a.*", "b"],
                "enabled_hypervisors": ["kvm", "fake"], "mac_prefix": "aa:bb:cc",
                "data_collector_interval": {"cpu": 1500000}, "enabled_data_collectors": {"cpu": False},
            },
        )  # fmt: skip

    def test_old_defaults(self) -> None:
        """--defaults of design-2.0: the default hypervisor is the first of those that are enabled."""
        self.cli.client.answers["QueryClusterInfo"] = lambda: {"enabled_hypervisors": ["fake", "kvm"]}
        op = self.submitted("--defaults", "hypervisor=kvm,bridge=br9,disksize=10g")
        self.assertEqual(
            op,
            {
                "OP_ID": "OP_CLUSTER_SET_PARAMS", "enabled_hypervisors": ["kvm", "fake"], "default_disk_size": 10240,
                "nicparams": {"mode": "bridged", "link": "br9"},
            },
        )  # fmt: skip
        self.assertEqual(self.submitted("--default-disk-size", "0")["default_disk_size"], 0)

    def test_parameters(self) -> None:
        """Parameters are typed; both spellings of the hypervisors' work; of the policy only what is given travels."""
        op = self.submitted(
            "-H", "kvm:acpi=no", "--hypervisor-defaults", "kvm:kernel_path=", "-B", "memory=1g", "-N", "link=br1",
            "--ipolicy-std-specs", "cpu-count=2", "--node-parameters", "ssh_port=23", "-D", "drbd:resync-rate=10",
        )  # fmt: skip
        self.assertEqual(
            op,
            {
                "OP_ID": "OP_CLUSTER_SET_PARAMS", "hvparams": {"kvm": {"acpi": False, "kernel_path": ""}},
                "beparams": {"memory": 1024}, "nicparams": {"link": "br1"}, "ipolicy": {"std": {"cpu-count": 2}},
                "ndparams": {"ssh_port": 23}, "diskparams": {"drbd": {"resync-rate": 10}},
            },
        )  # fmt: skip

    def test_emptied(self) -> None:
        """An empty list empties what was set, which is not the same as not given."""
        self.assertEqual(self.submitted("--reserved-lvs=")["reserved_lvs"], [])
        self.assertEqual(self.submitted("--uid-pool=")["uid_pool"], [])

    def test_refused(self) -> None:
        """Nothing to change, and what cannot be read."""
        for words, reason in (
            ([], "nothing to change"),
            (["--uid-pool", "x"], "option --uid-pool: invalid range 'x'"),
            (["--add-uids", "1-y"], "option --add-uids: invalid range"),
            (["--enabled-data-collectors", "cpu=maybe"], "data collector 'cpu'"),
        ):
            outcome = self.cli("gnt-cluster", "modify", *words)
            self.assertEqual(outcome.status, 1)
            self.assertIn(reason, outcome.err)
        self.assertEqual(self.cli.client.jobs, {})

    def test_redist_conf(self) -> None:
        """redist-conf submits one opcode."""
        self.assertEqual(self.cli("gnt-cluster", "redist-conf"), (0, "", ""))
        self.assertEqual(self.cli.client.submitted, [{"OP_ID": "OP_CLUSTER_REDIST_CONF"}])
