"""The cluster's address on a node: which script is run, with what, and the hooks around it."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HooksAbort, OpExecError
from ganeti_tx.model.master_network import MasterNetworkParameters
from ganeti_tx.node.answers import methods_of
from ganeti_tx.node.hooks import Hooks
from ganeti_tx.node.local_hooks import LocalHooks
from ganeti_tx.node.master_ip import MasterIp
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeChangeMasterNetmask, NodeDeactivateMasterIp
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner

PATHS = Paths(Path("/node"))
SCRIPT = str(PATHS.default_master_setup_script)
OWN = str(PATHS.external_master_setup_script)
NETWORK = MasterNetworkParameters(uuid="uuid", ip="192.0.2.100", netmask=24, netdev="eth0", ip_family=2)
HOOK = str(PATHS.hooks_dir / "master-ip-turnup-pre.d/10-check")


class MasterIpTests(SynchronousTestCase):
    """MasterIp with scripts that do as they are told."""

    def setUp(self) -> None:
        """An installed script that works."""
        self.files = MemoryFiles()
        self.runner = FakeProcessRunner()
        hooks = Hooks(self.files, PATHS, self.runner, Clock())
        self.announced: list[tuple[str, str]] = []
        local = LocalHooks(self.files, PATHS, hooks, "node1")
        self.part = MasterIp(self.files, PATHS, self.runner, local, lambda *told: self.announced.append(told))
        self.put(PATHS.default_master_setup_script)
        self.runner.script([SCRIPT], ProcessResult())

    def put(self, path: Path, mode: int = 0o755) -> None:
        """Have a file."""
        self.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, b"#!/bin/sh\n", mode)))

    def do(self, call: Any) -> "Deferred[None]":
        """Make a call."""
        method: Any = methods_of([self.part])[type(call)]
        return Deferred.fromCoroutine(method(call))

    def activate(self, external: bool = False, **changes: Any) -> "Deferred[None]":
        """Take the address."""
        return self.do(NodeActivateMasterIp(master_params=NETWORK, use_external_mip_script=external))

    def test_environment(self) -> None:
        """The script is told what to do by its argument, and with what by its environment."""
        self.successResultOf(self.activate())
        self.successResultOf(self.do(NodeDeactivateMasterIp(master_params=NETWORK, use_external_mip_script=False)))
        self.assertEqual(self.runner.commands, [[SCRIPT, "start"], [SCRIPT, "stop"]])
        told = {key: value for key, value in self.runner.calls[0].env.items() if key.startswith(("MASTER", "CLUSTER"))}
        wanted = {
            "MASTER_IP": "192.0.2.100",
            "MASTER_NETDEV": "eth0",
            "MASTER_NETMASK": "24",
            "CLUSTER_IP_VERSION": "4",
        }
        self.assertEqual(told, wanted)

    def test_external(self) -> None:
        """The administrator's own script is run where the cluster says so; without it nothing else is."""
        self.failureResultOf(self.activate(external=True), OpExecError)
        self.put(PATHS.external_master_setup_script)
        self.runner.script([OWN], ProcessResult())
        self.successResultOf(self.activate(external=True))
        self.assertEqual(self.runner.commands, [[OWN, "start"]])

    def test_failure(self) -> None:
        """A script that fails is one line with the address, the device and its last words."""
        self.runner.script([SCRIPT], ProcessResult(status=2, stderr=b"RTNETLINK answers: Operation not permitted\n"))
        text = str(self.failureResultOf(self.activate(), OpExecError).value)
        self.assertIn("192.0.2.100 on eth0", text)
        self.assertIn("Operation not permitted", text)
        self.assertEqual(len(text.splitlines()), 1)

    def test_netmask(self) -> None:
        """The address is there with the new netmask before it goes with the old one."""
        call = NodeChangeMasterNetmask(old_netmask=24, netmask=16, master_ip="192.0.2.100", master_netdev="eth0")
        self.successResultOf(self.do(call))
        told = [(*call.argv[1:], call.env["MASTER_NETMASK"]) for call in self.runner.calls]
        self.assertEqual(told, [("start", "16"), ("stop", "24")])

    def test_netmask_version_6(self) -> None:
        """An interface has an IPv6 address once: the old netmask goes first, and comes back when the new one is refused."""
        call = NodeChangeMasterNetmask(old_netmask=128, netmask=64, master_ip="2001:db8::100", master_netdev="eth0")
        self.successResultOf(self.do(call))
        self.assertEqual(self.told(), [("stop", "128"), ("start", "64")])
        self.runner.calls.clear()
        self.runner.script([SCRIPT], lambda asked: ProcessResult(status=2 * (asked.env["MASTER_NETMASK"] == "64")))
        self.failureResultOf(self.do(call), OpExecError)
        self.assertEqual(self.told(), [("stop", "128"), ("start", "64"), ("start", "128")])

    def told(self) -> list[tuple[str, str]]:
        """What the script was asked for, and with which netmask."""
        return [(call.argv[1], call.env["MASTER_NETMASK"]) for call in self.runner.calls]

    def test_announced(self) -> None:
        """The neighbours are told of an IPv6 address that our script took; of others, scripts tell them."""
        six = replace(NETWORK, ip="2001:db8::100", netmask=128, ip_family=10)
        self.put(PATHS.external_master_setup_script)
        self.runner.script([OWN], ProcessResult())
        for network, external in ((NETWORK, False), (six, True), (six, False)):
            self.successResultOf(self.do(NodeActivateMasterIp(master_params=network, use_external_mip_script=external)))
        self.assertEqual(self.announced, [("2001:db8::100", "eth0")])

    def test_hooks(self) -> None:
        """Executable hooks with plain names run before and after, and learn of the address."""
        for name in ("10-check", "bad.name", "20-plain"):
            self.put(PATHS.hooks_dir / "master-ip-turnup-pre.d" / name, 0o644 if name == "20-plain" else 0o755)
        after = PATHS.hooks_dir / "master-ip-turnup-post.d/90-tell"
        self.put(after)
        for script in (HOOK, str(after)):
            self.runner.script([script], ProcessResult(status=0))
        self.successResultOf(self.activate())
        self.assertEqual(self.runner.commands, [[HOOK], [SCRIPT, "start"], [str(after)]])
        before, _, done = (call.env for call in self.runner.calls)
        self.assertEqual((before["GANETI_MASTER_IP"], before["GANETI_HOOKS_PHASE"]), ("192.0.2.100", "pre"))
        self.assertEqual(before["GANETI_HOOKS_PATH"], "master-ip-turnup")
        self.assertEqual(done["GANETI_POST_MASTER_IP"], "192.0.2.100")

    def test_hook_fails(self) -> None:
        """One that fails before keeps the address from being taken; one that fails after is only logged."""
        self.put(Path(HOOK))
        self.runner.script([HOOK], ProcessResult(status=1, stderr=b"no"))
        error = self.failureResultOf(self.activate(), HooksAbort).value
        self.assertEqual(error.args, ([["node1", "master-ip-turnup-pre.d/10-check", "no"]],))
        self.assertEqual(self.runner.commands, [[HOOK]])
