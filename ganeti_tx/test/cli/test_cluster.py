"""Tests of the commands of gnt-cluster."""

import json
import os
import time
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.cluster_settings import check_params
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import read_settings
from ganeti_tx.cli.roman import roman
from ganeti_tx.cli.session import connect_to_master, master_name
from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.test.cli.fakes import CommandLine, Outcome, answer_of


class InitTests(SynchronousTestCase):
    """gnt-cluster init and destroy, and the program that does the work."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def document(self, *words: str) -> dict[str, Any]:
        """What the words send to ganeti-bootstrap, which must be able to use it."""
        self.assertEqual(self.cli("gnt-cluster", "init", *words, "c1.example.com"), (0, "", ""))
        argv, document = self.cli.programs[-1]
        self.assertEqual(argv[1:], ["-P", "-m", "ganeti_tx.bootstrap.main", "init"])
        assert document is not None
        problems = Problems()
        check_params(read_settings(document), problems)
        self.assertEqual(problems.found, [])
        found = json.loads(document)
        assert isinstance(found, dict)
        return found

    def refusal(self, *words: str) -> Outcome:
        """What the words are answered; the program is not run."""
        outcome = self.cli("gnt-cluster", "init", *words, "c1")
        self.assertEqual((outcome.status, self.cli.programs), (1, []), words)
        return outcome

    def test_least(self) -> None:
        """What was not given is left out, so that the cluster's defaults hold."""
        self.assertEqual(
            self.document(),
            {
                "cluster_name": "c1.example.com",
                "gluster_storage_dir": "/var/run/ganeti/gluster",
                "modify_etc_hosts": True,
                "modify_ssh_setup": True,
                "primary_ip_version": 4,
            },
        )

    def test_parameters(self) -> None:
        """Parameters come by hypervisor and template, in their types; lists are cut."""
        found = self.document(
            "--enabled-hypervisors", "kvm,fake", "-H", "kvm:acpi=no,kernel_path=", "-H", "kvm:migration_port=9000",
            "-B", "memory=1g", "-N", "link=br0", "--node-parameters", "ssh_port=2222", "-D", "drbd:resync-rate=10",
            "--enabled-disk-templates", "file,diskless", "--master-netmask", "24", "--no-ssh-init", "--uid-pool", "10-20,30",
            "-C", "3", "-s", "192.0.2.1", "--prealloc-wipe-disks", "yes", "--primary-ip-version", "6",
        )  # fmt: skip
        wanted = {
            "enabled_hypervisors": ["kvm", "fake"],
            "hvparams": {"kvm": {"acpi": False, "kernel_path": "", "migration_port": 9000}},
            "beparams": {"memory": 1024},
            "nicparams": {"link": "br0"},
            "ndparams": {"ssh_port": 2222},
            "diskparams": {"drbd": {"resync-rate": 10}},
            "enabled_disk_templates": ["file", "diskless"],
            "master_netmask": 24,
            "modify_ssh_setup": False,
            "uid_pool": [[10, 20], [30, 30]],
            "candidate_pool_size": 3,
            "secondary_ip": "192.0.2.1",
            "prealloc_wipe_disks": True,
            "primary_ip_version": 6,
        }
        self.assertEqual({key: found.get(key) for key in wanted}, wanted)

    def test_policy(self) -> None:
        """The instance policy is read from either kind of options, not from both; what is missing is the usual."""
        bounds = "min:memory-size=256m,cpu-count=2/max:memory-size=1g,cpu-count=4"
        found = self.document(
            "--ipolicy-bounds-specs", bounds, "--ipolicy-vcpu-ratio", "2", "--ipolicy-disk-templates", "file",
            "--ipolicy-spindle-ratio", "default", "--ipolicy-std-specs", "memory-size=256m,cpu-count=2,nic-count=2",
        )["ipolicy"]  # fmt: skip
        lowest = {
            "cpu-count": 1,
            "disk-count": 1,
            "disk-size": 1024,
            "memory-size": 128,
            "nic-count": 1,
            "spindle-use": 1,
        }
        highest = {
            "cpu-count": 8, "disk-count": 16, "disk-size": 1048576, "memory-size": 32768, "nic-count": 8, "spindle-use": 12
        }  # fmt: skip
        given = {"min": {"memory-size": 256, "cpu-count": 2}, "max": {"memory-size": 1024, "cpu-count": 4}}
        self.assertEqual(
            found,
            {
                "minmax": [{"min": {**lowest, **given["min"]}, "max": {**highest, **given["max"]}}],
                "std": {**lowest, **given["min"], "nic-count": 2},
                "vcpu-ratio": 2.0,
                "disk-templates": ["file"],
            },
        )
        split = self.document("--specs-mem-size", "min=64m,std=1g", "--specs-cpu-count", "max=4")["ipolicy"]
        self.assertEqual(
            split,
            {
                "minmax": [{"min": {**lowest, "memory-size": 64}, "max": {**highest, "cpu-count": 4}}],
                "std": {**lowest, "memory-size": 1024},
            },
        )
        self.cli.programs.clear()
        self.assertIn(
            "cannot be used beside",
            self.refusal("--specs-cpu-count", "min=1", "--ipolicy-std-specs", "cpu-count=1").err,
        )
        self.assertIn("wants min:... and max:...", self.refusal("--ipolicy-bounds-specs", "min:cpu-count=1").err)

    def test_old_spellings(self) -> None:
        """--defaults and --hypervisor-defaults are read as older designs wrote them."""
        found = self.document(
            "--defaults", "hypervisor=kvm,bridge=br9,disksize=1g",
            "--enabled-hypervisors", "fake,kvm", "--hypervisor-defaults", "kvm:acpi=yes"
        )  # fmt: skip
        self.assertEqual(found["enabled_hypervisors"], ["kvm", "fake"])
        self.assertEqual(found["nicparams"], {"mode": "bridged", "link": "br9"})
        self.assertEqual(found["default_disk_size"], 1024)
        self.assertEqual(found["hvparams"], {"kvm": {"acpi": True}})

    def test_refused(self) -> None:
        """What cannot be read is refused before the program runs."""
        for words, text in {
            ("--primary-ip-version", "5"): "invalid version '5': give 4 or 6",
            ("--master-netmask", "x"): "option --master-netmask: invalid number 'x'",
            ("--uid-pool", "a-b"): "invalid range 'a-b'",
            ("--defaults", "disksize=much"): "option --defaults: disksize: invalid size 'much'",
            ("--defaults", "memory=1g"): "'memory' has no default; known are bridge, disksize, hypervisor",
            ("--defaults", "bridge"): "bridge needs a value",
            ("-N", "colour=red"): "Unknown parameter 'colour'",
            ("-H", "kvm:acpi=perhaps"): "hypervisor parameter 'acpi': invalid value 'perhaps'",
            ("-H", "no_kvm"): "give kvm:KEY=VALUE",
        }.items():
            self.assertIn(text, self.refusal(*words).err)

    def test_status(self) -> None:
        """The program's exit status is the command's."""
        self.cli.program_status = 7
        self.assertEqual(self.cli("gnt-cluster", "init", "c1").status, 7)

    def test_destroy(self) -> None:
        """The cluster checks first; only then is the node taken out of it."""
        self.cli.client.results["OP_CLUSTER_DESTROY"] = "uuid-of-master"
        self.assertEqual(self.cli("gnt-cluster", "destroy", "--yes-do-it").status, 0)
        ((argv, document),) = self.cli.programs
        self.assertEqual((argv[-1], json.loads(document or b"")), ("destroy", {"master_uuid": "uuid-of-master"}))

    def test_destroy_refused(self) -> None:
        """Without --yes-do-it, or when the cluster is not empty, nothing is destroyed."""
        self.assertEqual(self.cli("gnt-cluster", "destroy").status, 1)
        self.assertEqual(self.cli.client.jobs, {})
        self.cli.client.results["OP_CLUSTER_DESTROY"] = OpExecError("There are still 2 nodes")
        self.assertEqual(self.cli("gnt-cluster", "destroy", "--yes-do-it").status, 1)
        self.assertEqual(self.cli.programs, [])


class UpgradeTests(SynchronousTestCase):
    """gnt-cluster upgrade."""

    def test_upgrade(self) -> None:
        """The program that does the work is told the version, or to go on; its exit status is the command's."""
        cli = CommandLine()
        self.assertEqual(cli("gnt-cluster", "upgrade", "--to", "0.2.0"), (0, "", ""))
        cli.program_status = 1
        self.assertEqual(cli("gnt-cluster", "upgrade", "--resume"), (1, "", ""))
        told = [(argv[1:], json.loads(document or b"")) for argv, document in cli.programs]
        program = ["-P", "-m", "ganeti_tx.upgrade.main", "cluster"]
        self.assertEqual(told, [(program, {"to": "0.2.0"}), (program, {"to": None})])

    def test_refused(self) -> None:
        """As Ganeti says it."""
        cli = CommandLine()
        refusal = (1, "", "Precisely one of the options --to and --resume has to be given\n")
        self.assertEqual(cli("gnt-cluster", "upgrade"), refusal)
        self.assertEqual(cli("gnt-cluster", "upgrade", "--to=0.2.0", "--resume"), refusal)
        self.assertEqual(cli.programs, [])


class VerifyTests(SynchronousTestCase):
    """gnt-cluster verify."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.jobs = {8: [{"OP_ID": "OP_CLUSTER_VERIFY_CONFIG"}], 9: [{"OP_ID": "OP_CLUSTER_VERIFY_GROUP"}]}
        self.cli.client.results = {
            "OP_CLUSTER_VERIFY": {"jobs": [[True, 8], [True, 9]]},
            "OP_CLUSTER_VERIFY_CONFIG": True,
            "OP_CLUSTER_VERIFY_GROUP": True,
        }

    def test_success(self) -> None:
        """All jobs of the verification are followed."""
        outcome = self.cli("gnt-cluster", "verify")
        self.assertEqual(outcome.status, 0)
        self.assertEqual(outcome.out, "Submitted jobs 8, 9\nWaiting for job 8 ...\nWaiting for job 9 ...\n")

    def test_fault(self) -> None:
        """A check that fails, a job that fails and one that was refused all make the exit status 1."""
        for bad in ({"OP_CLUSTER_VERIFY_GROUP": False}, {"OP_CLUSTER_VERIFY_CONFIG": OpExecError("broken")}):
            before = dict(self.cli.client.results)
            self.cli.client.results.update(bad)
            self.assertEqual(self.cli("gnt-cluster", "verify").status, 1)
            self.cli.client.results = before
        self.assertNotIn("failed", self.cli("gnt-cluster", "verify").out)
        self.cli.client.results["OP_CLUSTER_VERIFY"] = {"jobs": [[True, 8], [False, "full"]]}
        self.assertEqual(self.cli("gnt-cluster", "verify").status, 1)

    def test_options(self) -> None:
        """Options reach the opcode."""
        self.cli(
            "gnt-cluster", "verify", "-v", "--error-codes", "--no-nplus1-mem", "-g", "rack1",
            "-I", "ENODELVM", "-I", "ENODESSH", "-I", "ENODELVM",
        )  # fmt: skip
        self.assertEqual(
            self.cli.client.submitted[-1],
            {
                "OP_ID": "OP_CLUSTER_VERIFY",
                "verbose": True,
                "error_codes": True,
                "skip_checks": ["nplusone_mem"],
                "ignore_errors": ["ENODELVM", "ENODESSH"],
                "group_name": "rack1",
            },
        )


class QueryTests(SynchronousTestCase):
    """What only asks."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def test_queue(self) -> None:
        """The queue can be closed, opened, and asked which it is."""
        self.cli.client.answers["SetDrainFlag"] = lambda drain: True
        self.cli.client.answers["QueryConfigValues"] = lambda names: [True]
        self.cli("gnt-cluster", "queue", "drain")
        self.cli("gnt-cluster", "queue", "undrain")
        self.assertEqual(self.cli.client.sent("SetDrainFlag"), [[True], [False]])
        self.assertEqual(self.cli("gnt-cluster", "queue", "info").out, "The drain flag is set\n")

    def test_watcher(self) -> None:
        """The watcher is paused for a while, told to go on, and asked; the words are Ganeti's."""
        until = "The watcher is paused until {}.\n"
        self.cli.client.answers["SetWatcherPause"] = lambda end: end
        self.cli.client.answers["QueryConfigValues"] = lambda names: [7200.0]
        self.assertEqual(self.cli("gnt-cluster", "watcher", "info").out, until.format(time.ctime(7200)))
        self.cli.client.answers["QueryConfigValues"] = lambda names: [None]
        self.assertEqual(self.cli("gnt-cluster", "watcher", "info").out, "The watcher is not paused.\n")
        before = time.time()
        said = self.cli("gnt-cluster", "watcher", "pause", "1h").out
        ((end,),) = self.cli.client.sent("SetWatcherPause")
        self.assertTrue(before <= end - 3600 <= time.time(), end)
        self.assertEqual(said, until.format(time.ctime(end)))
        self.assertEqual(self.cli("gnt-cluster", "watcher", "continue").out, "The watcher is no longer paused.\n")
        self.assertEqual(self.cli.client.sent("SetWatcherPause")[1:], [[None]])

    def test_watcher_refused(self) -> None:
        """No duration, one that is none, and one too many are refused with nothing changed."""
        for words, text in {
            ("pause",): "wrong_input, error details:\nMissing pause duration\n",
            ("pause", "1x"): "wrong_input, error details:\nInvalid time specification '1x'\n",
            ("pause", "0"): "Invalid time specification '0'",
            ("pause", "-5"): "Invalid time specification '-5'",
            ("continue", "1h"): "'continue' takes no duration, got '1h'",
            ("bogus",): "invalid argument 'bogus': choose from pause, continue, info",
        }.items():
            outcome = self.cli("gnt-cluster", "watcher", *words)
            self.assertEqual((outcome.status, outcome.out), (1, ""), words)
            self.assertIn(text, outcome.err)
        self.assertEqual(self.cli.client.sent("SetWatcherPause"), [])

    def test_version(self) -> None:
        """The versions are those of the cluster."""
        self.cli.client.answers["QueryClusterInfo"] = lambda: CLUSTER
        lines = self.cli("gnt-cluster", "version").out.splitlines()
        self.assertEqual(
            lines[:3], ["Software version: 0.1", "Internode protocol: 3000000", "Configuration format: 3000000"]
        )

    def test_info(self) -> None:
        """The settings are shown under their names, nested ones indented."""
        self.cli.client.answers["QueryClusterInfo"] = lambda: CLUSTER
        self.cli.client.answers["Query"] = lambda noun, fields, chosen: answer_of(
            ("name", "text", "Group"), rows=[["rack1"]]
        )
        outcome = self.cli("gnt-cluster", "show", "--roman")
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        lines = outcome.out.splitlines()
        for line in (
            "Cluster name: c1", "Tags: a, b", "  default node group: rack1",
            "  candidate pool size: X", "  lvm reserved volumes: (none)",
            "  uid pool: X-XX, 0", "    acpi: True", "    memory_limit: default (0)",
            "      max/0: ", "        cpu-count: 8", "  vcpu-ratio: 4", "    - min/0: ",
            "  load: ", "    interval: 5.000s", "Architecture (this node): 64bits (x86_64)",
            "  OS search path: /srv/ganeti/os, /usr/local/lib/ganeti/os, /usr/lib/ganeti/os, /usr/share/ganeti/os",
            "  ExtStorage Providers search path: /srv/ganeti/extstorage, /usr/local/lib/ganeti/extstorage, "
            "/usr/lib/ganeti/extstorage, /usr/share/ganeti/extstorage",
        ):  # fmt: skip
            self.assertIn(line, lines)

    def test_roman(self) -> None:
        """Only numbers that Romans could write change."""
        found = [roman(value) for value in (1, 4, 1994, 3999, 0, 4000, "x", None, True)]
        self.assertEqual(found, ["I", "IV", "MCMXCIV", "MMMCMXCIX", "0", "4000", "x", "None", "True"])


class MasterTests(SynchronousTestCase):
    """Where the master daemon is."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp())
        self.environ = {"GANETI_ROOTDIR": os.fspath(self.root), "GANETI_HOSTNAME": "node1"}

    def master_is(self, name: str) -> None:
        """Write the name as every node keeps it."""
        directory = self.root / "var/lib/ganeti"
        directory.mkdir(parents=True)
        (directory / "ssconf_master_node").write_text(name + "\n")

    def test_getmaster(self) -> None:
        """getmaster works on any node, without a daemon."""
        self.master_is("node7")
        cli = CommandLine()
        cli.environ = self.environ
        self.assertEqual(cli("gnt-cluster", "getmaster"), (0, "node7\n", ""))

    def test_no_cluster(self) -> None:
        """A node without a cluster says so."""
        error = self.assertRaises(OpPrereqError, connect_to_master, self.environ)
        self.assertIn("gnt-cluster init", str(error))
        self.assertRaises(OpPrereqError, master_name, self.environ)

    def test_not_master(self) -> None:
        """Another node names the master."""
        self.master_is("node7")
        error = self.assertRaises(OpPrereqError, connect_to_master, self.environ)
        self.assertIn("connect to node 'node7'", str(error))


CLUSTER: dict[str, Any] = {
    **dict.fromkeys(
        (
            "use_external_mip_script", "volume_group_name", "drbd_usermode_helper", "file_storage_dir",
            "shared_file_storage_dir", "gluster_storage_dir", "maintain_node_health", "default_iallocator",
            "default_iallocator_params", "prealloc_wipe_disks", "install_image", "instance_communication_network",
            "zeroing_image", "compression_tools", "default_disk_size", "enabled_user_shutdown", "modify_ssh_setup", "ssh_key_type",
            "ssh_key_bits", "master_netdev", "master_netmask", "vcs_version", "os_hvp", "osparams",
        )
    ),
    "name": "c1", "uuid": "u", "ctime": 0, "mtime": 0, "master": "node1", "architecture": ["64bits", "x86_64"],
    "tags": ["b", "a"], "default_hypervisor": "kvm", "enabled_hypervisors": ["kvm"], "hvparams": {"kvm": {"acpi": True}},
    "hidden_os": [], "blacklisted_os": [], "candidate_pool_size": 10, "max_running_jobs": 20, "max_tracked_jobs": 25,
    "mac_prefix": "aa:00:00", "reserved_lvs": [], "uid_pool": [[10, 20], [0, 0]], "primary_ip_version": 4,
    "enabled_disk_templates": ["file"], "enabled_data_collectors": {"load": True, "lv": False},
    "data_collector_interval": {"load": 5000000}, "ndparams": {}, "beparams": {"default": {"vcpus": 1}},
    "nicparams": {}, "diskparams": {}, "software_version": "0.1", "protocol_version": 3000000,
    "config_version": 3000000, "os_api_version": 20, "export_version": 0, "default_group": "rack1-uuid",
    "ipolicy": {
        "minmax": [{"min": {"cpu-count": 1}, "max": {"cpu-count": 8}}], "std": {}, "disk-templates": ["file"], "vcpu-ratio": 4.0,
    },
}  # fmt: skip
