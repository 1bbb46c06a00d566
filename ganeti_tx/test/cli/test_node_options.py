"""Each option of gnt-node that concerns a job: what of the job it changes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.cli.fakes import CommandLine, answer_of

FACTS = json.loads((Path(__file__).parent / "facts" / "cli.json").read_text())["commands"]["gnt-node"]["subcommands"]
#: What the master tells of its one node.
NODE = {
    "name": "node1", "pinst_list": ["web1"], "sinst_list": ["web2"], "master": False, "offline": False, "powered": True,
    "pnode": "node1", "oper_state": True, "admin_state": "up", "node_list": ["node1"], "group": "g", "node": "node1",
}  # fmt: skip
#: Options of all jobs, and of all tables and lists, which have tests of their own.
EVERYWHERE = frozenset(
    {"--priority", "--submit", "--print-jobid", "--dry-run", "--no-headers", "--separator", "--units", "--output"}
)


@frozen
class Job:
    """A command line without options, or with those that it needs, and what each other option changes in its last opcode."""

    words: Sequence[str]
    changes: Mapping[str, Mapping[str, Any]]
    with_: Sequence[str] = ()
    #: Options that act elsewhere than in the opcode.
    elsewhere: Sequence[str] = ()


JOBS: dict[str, Job] = {
    "add": Job(
        ["node2"],
        {
            "-s 192.0.2.9": {"secondary_ip": "192.0.2.9"},
            "--readd": {"readd": True},
            "--no-node-setup": {"node_setup": None},
            "-g rack1": {"group": "rack1"},
            "--master-capable=no": {"master_capable": False},
            "--vm-capable=no": {"vm_capable": False},
            "--node-parameters=ssh_port=23": {"ndparams": {"ssh_port": 23}},
            "--hypervisor-state=kvm:mem_total=5": {"hv_state": {"kvm": {"mem_total": "5"}}},
            "--disk-state=plain/xenvg:x=1": {"disk_state": {"plain": {"xenvg": {"x": "1"}}}},
        },
        elsewhere=("--no-ssh-key-check", "--force-join", "--verbose"),
    ),
    "add-tags": Job(["node1", "t"], {}, elsewhere=("--from",)),
    "remove-tags": Job(["node1", "t"], {}, elsewhere=("--from",)),
    "evacuate": Job(
        ["node1"],
        {
            "-I hail": {"iallocator": "hail"},
            "--ignore-soft-errors": {"ignore_soft_errors": True},
            "-n node3": {"remote_node": "node3", "mode": "secondary-only"},
            "--early-release": {"early_release": True},
            "-p": {"mode": "primary-only"},
            "-s": {"mode": "secondary-only"},
        },
        with_=("--force",),
    ),
    "failover": Job(
        ["node1"],
        {"--ignore-consistency": {"ignore_consistency": True}, "-I hail": {"iallocator": "hail"}},
        with_=("--force",),
    ),
    "health": Job(["node1"], {"--oob-timeout=7": {"timeout": 7}}),
    "list-storage": Job(["node1"], {"-t file": {"storage_type": "file"}}),
    "migrate": Job(
        ["node1"],
        {
            "--non-live": {"mode": "non-live"},
            "--migration-mode=live": {"mode": "live"},
            "-n node3": {"target_node": "node3"},
            "-I hail": {"iallocator": "hail"},
            "--ignore-ipolicy": {"ignore_ipolicy": True},
            "--no-runtime-changes": {"allow_runtime_changes": False},
        },
        with_=("--force",),
    ),
    "modify": Job(
        ["node1"],
        {
            "--force": {"force": True},
            "-C yes": {"master_candidate": True},
            "-D yes": {"drained": True},
            "-O no": {"offline": False},
            "--master-capable=no": {"master_capable": False},
            "-s 192.0.2.9": {"secondary_ip": "192.0.2.9"},
            "--auto-promote": {"auto_promote": True},
            "--node-parameters=ssh_port=23": {"ndparams": {"ssh_port": 23}},
            "--node-powered=no": {"powered": False},
            "--hypervisor-state=kvm:mem_total=5": {"hv_state": {"kvm": {"mem_total": "5"}}},
            "--disk-state=plain:x=1": {"disk_state": {"plain": {"x": "1"}}},
        },
        with_=("--vm-capable=yes",),
    ),
    "modify-storage": Job(["node1", "lvm-pv", "/dev/sda"], {}, with_=("--allocatable=no",)),
    "power": Job(
        ["on", "node1"],
        {
            "--ignore-status": {"ignore_status": True},
            "--oob-timeout=7": {"timeout": 7},
            "--power-delay=0.5": {"power_delay": 0.5},
        },
        with_=("--force",),
        elsewhere=("--auto-promote",),
    ),
    "powercycle": Job(["node1"], {"--force": {"force": True}}, with_=("--yes",)),
    "remove": Job(["node1"], {}),
    "repair-storage": Job(["node1", "lvm-vg", "xenvg"], {"--ignore-consistency": {"ignore_consistency": True}}),
    "restricted-command": Job(
        ["any", "node1"], {"--sync": {"use_locking": True}}, elsewhere=("--show-machine-names", "--node-group")
    ),
    "volumes": Job(["node1"], {}),
}
RESULTS: dict[str, Any] = {
    "OP_NODE_EVACUATE": {"jobs": []},
    "OP_NODE_MIGRATE": {"jobs": []},
    "OP_OOB_COMMAND": [],
    "OP_NODE_QUERY_STORAGE": [],
    "OP_NODE_QUERYVOLS": [],
    "OP_RESTRICTED_COMMAND": [[True, ""]],
}


class NodeOptionTests(SynchronousTestCase):
    """The table above against the table of Ganeti's commands, and against what is submitted."""

    def test_complete(self) -> None:
        """Every option of every command that submits a job is in the table."""
        asking = {"info", "list", "list-drbd", "list-fields", "list-tags"}
        self.assertEqual(set(JOBS), set(FACTS) - asking)
        for name, job in JOBS.items():
            spelled = {flag.partition("=")[0] for line in job.changes for flag in line.split()}
            spelled |= {flag.partition("=")[0] for flag in (*job.with_, *job.elsewhere)} | EVERYWHERE
            for option in FACTS[name]["options"]:
                self.assertTrue(spelled & {*option["short"], *option["long"]}, f"gnt-node {name} {option['long']}")

    def submitted(self, name: str, *words: str) -> dict[str, Any]:
        """The last opcode of the last job of a command line."""
        cli = CommandLine()
        cli.client.results.update(RESULTS)
        cli.client.answers["Query"] = lambda _kind, fields, _filter: answer_of(
            *((field, "other", field) for field in fields), rows=[[NODE[field] for field in fields]]
        )
        outcome = cli("gnt-node", name, *words)
        self.assertEqual(outcome.status, 0, f"{name} {words}: {outcome.err}")
        return cli.client.submitted[-1]

    def test_changes(self) -> None:
        """Each option changes that, and nothing else."""
        for name, job in JOBS.items():
            before = self.submitted(name, *job.with_, *job.words)
            for line, changes in job.changes.items():
                after = self.submitted(name, *job.with_, *line.split(), *job.words)
                expected = {key: value for key, value in {**before, **changes}.items() if value is not None}
                self.assertEqual(after, expected, f"gnt-node {name} {line}")

    def test_everywhere(self) -> None:
        """What all jobs have is an option of each command that the table of Ganeti gives it to, and reaches the opcode."""
        for name, job in JOBS.items():
            long = {flag for option in FACTS[name]["options"] for flag in option["long"]}
            for flag, changes in (("--priority=high", {"priority": -10}), ("--dry-run", {"dry_run": True})):
                if flag.partition("=")[0] in long:
                    before = self.submitted(name, *job.with_, *job.words)
                    self.assertEqual(self.submitted(name, *job.with_, flag, *job.words), {**before, **changes}, name)
