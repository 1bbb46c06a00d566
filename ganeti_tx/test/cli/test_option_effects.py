"""What gnt-backup, and the commands about the cluster's keys and name, make of each of their options."""

import json
from collections.abc import Mapping
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import load
from ganeti_tx.test.cli.fakes import CommandLine

EXPORT = ("gnt-backup", "export")
IMPORT = ("gnt-backup", "import")
REMOVE = ("gnt-backup", "remove")
RENEW = ("gnt-cluster", "renew-crypto")
RENAME = ("gnt-cluster", "rename")
#: What each command is given besides: options, and words.
REST: Mapping[tuple[str, str], tuple[list[str], list[str]]] = {
    EXPORT: (["--node=node1"], ["web1"]),
    IMPORT: (["--node=node1"], ["web1"]),
    REMOVE: ([], ["web1"]),
    RENEW: (["--force", "--new-ssh-keys"], []),
    RENAME: (["--force"], ["c2.example.com"]),
}
#: What replaces files of the master's, by what ganeti-bootstrap is told.
FILES: Mapping[str, Mapping[str, str]] = {
    "--new-rapi-certificate": {"rapi": ""},
    "--rapi-certificate=/k/own.pem": {"rapi": "/k/own.pem"},
    "--new-spice-certificate": {"spice": "", "spice_authority": ""},
    "--spice-certificate=/k/own.pem": {"spice": "/k/own.pem", "spice_authority": "/k/ca.pem"},
    "--spice-ca-certificate=/k/ca.pem": {"spice": "/k/own.pem", "spice_authority": "/k/ca.pem"},
    "--new-cluster-domain-secret": {"domain_secret": ""},
    "--cluster-domain-secret=/k/secret": {"domain_secret": "/k/secret"},
}
#: The one goes with the other.
TOGETHER = {
    "--spice-certificate": "--spice-ca-certificate=/k/ca.pem",
    "--spice-ca-certificate": "--spice-certificate=/k/own.pem",
}
#: They say how a job is waited for.
WAITING = {"--submit", "--print-jobid"}
#: Each option with what it puts into the opcode, or, where it is a string, why nothing.
EFFECTS: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any] | str]] = {
    EXPORT: {
        "--force": "asks nothing anyway",
        "--node=node2": {"target_node": "node2"},
        "--transport-compression=gzip": {"compress": "gzip"},
        "--noshutdown": {"shutdown": False},
        "--shutdown-timeout=7": {"shutdown_timeout": 7},
        "--remove-instance": {"remove_instance": True},
        "--ignore-remove-failures": {"ignore_remove_failures": True},
        "--dry-run": {"dry_run": True},
        "--priority=high": {"priority": -10},
        "--zero-free-space": {"zero_free_space": True},
        "--zeroing-timeout-fixed=5": {"zeroing_timeout_fixed": 5},
        "--zeroing-timeout-per-mib=0.5": {"zeroing_timeout_per_mib": 0.5},
        "--long-sleep": {"long_sleep": True},
    },
    IMPORT: {
        "--backend-parameters=vcpus=2": {"beparams": {"vcpus": 2}},
        "--disk=0:size=1g": {"disks": [{"size": 1024}]},
        "--disk-template=file": {"disk_template": "file"},
        "--file-storage-dir=below": {"file_storage_dir": "below"},
        "--file-driver=loop": {"file_driver": "loop"},
        "--hypervisor-parameters=kvm:acpi=no": {"hypervisor": "kvm", "hvparams": {"acpi": False}},
        "--iallocator=hail": {"iallocator": "hail"},
        "--net=0:mac=generate": {"nics": [{"mac": "generate"}]},
        "--node=node2:node3": {"pnode": "node2", "snode": "node3"},
        "--node-group=rack1": {"group_name": "rack1"},
        "--no-ip-check": {"ip_check": False},
        "--no-conflicts-check": {"conflicts_check": False},
        "--no-name-check": {"name_check": False},
        "--no-nics": {"no_nics": True},
        "--no-wait-for-sync": {"wait_for_sync": False},
        "--os-parameters=a=1": {"osparams": {"a": "1"}},
        "--os-parameters-private=a=1": {"osparams_private": {"a": "1"}},
        "--os-parameters-secret=a=1": {"osparams_secret": {"a": "1"}},
        "--os-size=2g": {"disks": [{"size": 2048}]},
        "--opportunistic-locking": {"opportunistic_locking": True},
        "--tags=a,b": {"tags": ["a", "b"]},
        "--dry-run": {"dry_run": True},
        "--priority=low": {"priority": 10},
        "--identify-defaults": {"identify_defaults": True},
        "--src-dir=web9": {"src_path": "web9"},
        "--src-node=node3": {"src_node": "node3"},
        "--compress=gzip": {"compress": "gzip"},
        "--ignore-ipolicy": {"ignore_ipolicy": True},
        "--helper-startup-timeout=3": {"helper_startup_timeout": 3},
        "--helper-shutdown-timeout=4": {"helper_shutdown_timeout": 4},
    },
    REMOVE: {"--dry-run": {"dry_run": True}, "--priority=low": {"priority": 10}},
    RENEW: {
        "--force": "was given",
        "--new-cluster-certificate": {"cluster_certificate": True},
        "--new-node-certificates": {"node_certificates": True},
        "--new-confd-hmac-key": {"confd_hmac_key": True},
        "--new-ssh-keys": "was given",
        "--ssh-key-type=ecdsa": {"ssh_key_type": "ecdsa"},
        "--ssh-key-bits=521": {"ssh_key_bits": 521},
        "--no-ssh-key-check": "nothing is done through ssh",
        "--verbose": {"verbose": True},
        **dict.fromkeys(FILES, "is done as root before, to files that never stand in a job's"),
    },
    RENAME: {"--force": "was given", "--dry-run": {"dry_run": True}},
}


class EffectTests(SynchronousTestCase):
    """Option by option."""

    def sent(self, command: tuple[str, str], *options: str) -> dict[str, Any]:
        """The opcode that comes to the master."""
        cli = CommandLine()
        cli.client.answers["QueryConfigValues"] = lambda fields: ["c1.example.com" for _ in fields]
        before, words = REST[command]
        more = [TOGETHER[name] for option in options if (name := option.partition("=")[0]) in TOGETHER]
        outcome = cli(*command, *before, *more, *options, *words)
        self.assertEqual(outcome.status, 0, (options, outcome))
        [op] = cli.client.submitted
        told = [json.loads(document or b"") for argv, document in cli.programs if argv[-1] == "renew-files"]
        self.assertEqual(told, [FILES[option] for option in options if option in FILES])
        return op

    def test_each(self) -> None:
        """It changes what it is about, and nothing else."""
        for command, effects in EFFECTS.items():
            plain = self.sent(command)
            for option, effect in effects.items():
                changes = {} if isinstance(effect, str) else effect
                found = self.sent(command, option)
                self.assertEqual(found, {**plain, **changes}, (command, option))
                self.assertEqual(found == plain, not changes, (command, option))

    def test_least(self) -> None:
        """What is not said is left out."""
        self.assertEqual(self.sent(RENEW), {"OP_ID": "OP_CLUSTER_RENEW_CRYPTO", "renew_ssh_keys": True})
        self.assertEqual(self.sent(REMOVE), {"OP_ID": "OP_BACKUP_REMOVE", "instance_name": "web1"})

    def test_none_is_left_out(self) -> None:
        """A new option needs an entry."""
        for (program, name), effects in EFFECTS.items():
            declared = {flag for option in load(program_named(program).commands[name]).options for flag in option.flags}
            long = {flag for flag in declared if flag.startswith("--")} - WAITING
            self.assertEqual({option.partition("=")[0] for option in effects}, long, name)
