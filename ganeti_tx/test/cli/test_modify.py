"""Tests of gnt-instance modify."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ExitCode
from ganeti_tx.test.cli.fakes import CommandLine, Outcome

#: What is typed, and the change that is sent (reference: gnt-instance-syntax.json).
DISKS: list[tuple[str, list[Any]]] = [
    ("add:size=1g", ["add", -1, {"size": 1024}]),
    ("1:add,size=1g,mode=ro", ["add", "1", {"size": 1024, "mode": "ro"}]),
    ("-1:add,size=5", ["add", "-1", {"size": 8}]),
    ("attach:name=data", ["attach", -1, {"name": "data"}]),
    ("1:attach,uuid=abc", ["attach", "1", {"uuid": "abc"}]),
    ("remove", ["remove", -1, {}]),
    ("mydisk:remove", ["remove", "mydisk", {}]),
    ("detach", ["detach", -1, {}]),
    ("0:detach", ["detach", "0", {}]),
    ("0:mode=ro", ["modify", "0", {"mode": "ro"}]),
    ("0:modify,access=r", ["modify", "0", {"mode": "ro"}]),
    ("0:size=5", ["modify", "0", {"size": 8}]),
    ("add:size=1g,spindles=2", ["add", -1, {"size": 1024, "spindles": 2}]),
]
NICS: list[tuple[str, list[Any]]] = [
    ("add", ["add", -1, {}]),
    ("add:link=br0", ["add", -1, {"link": "br0"}]),
    ("0:add,ip=pool,network=lan", ["add", "0", {"ip": "pool", "network": "lan"}]),
    ("0:ip=none", ["modify", "0", {"ip": "none"}]),
    ("eth0:remove", ["remove", "eth0", {}]),
    ("-1:remove", ["remove", "-1", {}]),
]
#: What is refused before anything is sent.
WRONG = [
    ("--disk=add:size=12Q", "invalid size '12Q'"),
    ("--disk=add:size=1g,spindles=x", "invalid number 'x'"),
    ("--disk=0:remove,size=1g", "nothing can be said of what is to leave"),
    ("--disk=0:add,remove,size=1g", "cannot add and remove at the same time"),
    ("--disk=add:remove", "cannot add and remove at the same time"),
    ("--disk=0:mode", "parameter 'mode' needs a value"),
    ("--net=0:ip", "parameter 'ip' needs a value"),
    ("--net=no_0", "write ID:remove to remove it"),
    ("--net=detach:ip=none", "nothing can be said of what is to leave"),
    ("-B=memory=12Q", "invalid size '12Q'"),
    ("-B=nosuch=1", "Unknown parameter 'nosuch'"),
]


class ModifyTests(SynchronousTestCase):
    """What is typed, what is sent, and what is printed."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def opcode(self, *words: str) -> dict[str, Any]:
        """What the words submit."""
        outcome = self.cli("gnt-instance", "modify", *words, "web1")
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        sent = self.cli.client.submitted[-1]
        return {key: value for key, value in sent.items() if key not in ("OP_ID", "instance_name", "reason")}

    def refusal(self, *words: str) -> Outcome:
        """What the words are answered, which submit nothing."""
        outcome = self.cli("gnt-instance", "modify", *words, "web1")
        self.assertIn(outcome.status, (ExitCode.FAILURE, ExitCode.USAGE))
        self.assertEqual(self.cli.client.jobs, {})
        return outcome

    def test_devices(self) -> None:
        """Each spelling."""
        for typed, change in DISKS:
            self.assertEqual(self.opcode("--disk", typed), {"disks": [change]}, typed)
        for typed, change in NICS:
            self.assertEqual(self.opcode("--net", typed), {"nics": [change]}, typed)

    def test_several(self) -> None:
        """In the order of the line."""
        words = [word for typed, _ in DISKS for word in ("--disk", typed)]
        self.assertEqual(self.opcode(*words)["disks"], [change for _, change in DISKS])

    def test_all_options(self) -> None:
        """The others reach their parameters, in their types."""
        op = self.opcode(
            "-B", "memory=1g,auto_balance=default", "-H", "acpi=false,kernel_path=default", "-O", "a=b,-c",
            "--os-parameters-private", "p=q", "-o", "debian+x", "--force-variant", "-m", "1g", "--offline",
            "--new-primary", "node2", "--hotplug-if-possible", "--no-wait-for-sync", "--no-conflicts-check",
            "--ignore-ipolicy", "-f", "-c", "no",
        )  # fmt: skip
        wanted = {
            "beparams": {"memory": 1024, "auto_balance": "default"},
            "hvparams": {"acpi": False, "kernel_path": "default"},
            "osparams": {"a": "b", "c": None},
            "osparams_private": {"p": "q"},
            "os_name": "debian+x",
            "force_variant": True,
            "runtime_mem": 1024,
            "offline": True,
            "pnode": "node2",
            "hotplug_if_possible": True,
            "wait_for_sync": False,
            "conflicts_check": False,
            "ignore_ipolicy": True,
            "force": True,
            "instance_communication": False,
        }
        self.assertEqual(op, wanted)
        self.assertEqual(self.opcode("--online", "--hotplug"), {"offline": False, "hotplug": True})

    def test_conversion(self) -> None:
        """What is said of another template."""
        op = self.opcode("-t", "ext", "-n", "node2", "-e", "provider=p", "-I", "hail")
        wanted = {"disk_template": "ext", "remote_node": "node2", "ext_params": {"provider": "p"}, "iallocator": "hail"}
        self.assertEqual(op, wanted)

    def test_nothing(self) -> None:
        """How a change is to be made is none."""
        for words in ((), ("--hotplug",), ("--ignore-ipolicy", "-f"), ("-n", "node2")):
            outcome = self.refusal(*words)
            self.assertEqual(outcome, (1, "", "Please give at least one of the parameters.\n"))

    def test_wrong(self) -> None:
        """Each is told in one line."""
        for typed, reason in WRONG:
            option, _, value = typed.partition("=")
            self.assertIn(reason, self.refusal(option, value).err, typed)
        self.assertIn("exclude each other", self.refusal("--offline", "--online").err)
        self.assertIn("exclude each other", self.refusal("--hotplug", "--hotplug-if-possible", "--net", "add").err)

    def test_told(self) -> None:
        """What is new, and when it counts; nothing when nothing is told."""
        self.cli.client.results["OP_INSTANCE_SET_PARAMS"] = [["be/vcpus", 2], ["nic.0", "add:x"]]
        self.assertIn(
            "Modified instance web1\n - be/vcpus -> 2\n - nic.0 -> add:x\nPlease don't forget",
            self.cli("gnt-instance", "modify", "-B", "vcpus=2", "web1").out,
        )
