"""What a node looks at when the cluster is verified."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.checks import NodeChecks
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.node.path_checks import PathChecks
from ganeti_tx.node.ssh_checks import SshChecks
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.kinds import StorageKind, together
from ganeti_tx.rpc.calls.check_answers import ANSWERS, FAILED
from ganeti_tx.rpc.calls.node import NodeVerify
from ganeti_tx.rpc.wire import decode_answer, encode_success
from ganeti_tx.runtime.path_modes import USERS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.fakes.storage import FakePools, FakeStorage
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.node_keys import cluster_keys

KEYS = {"node1.example.com": "ssh-rsa AAAA"}
OWN = b"ssh-rsa AAAA root@node1.example.com (ganeti_tx)\n"


class BrokenHypervisor(FakeHypervisor):
    """One that cannot tell how it is."""

    async def verify(self) -> list[str]:
        """As IHypervisor says."""
        raise HypervisorError("the monitor is broken")


class NodeChecksCase(SynchronousTestCase):
    """A node with one pool, and a fake hypervisor."""

    def setUp(self) -> None:
        self.files, self.paths, self.runner = MemoryFiles(), Paths(), FakeProcessRunner()
        self.users: dict[str, int] | None = dict.fromkeys(USERS.values(), 7)
        for directory in (self.paths.data_dir, self.paths.conf_dir, self.paths.root_ssh_dir):
            self.files.mkdir(directory)
        self.store = FakeStorage()
        fake = BrokenHypervisor(self.files, self.paths, lambda: 0.0)
        self.checks = NodeChecks(
            self.files,
            self.paths,
            lambda: 1000.0,
            self.reaches,
            together([StorageKind([self.store], {"file": FakePools(self.store)})]),
            {"fake": fake},
            self.paths.conf_dir / "user-mode-network",
            AllowedPaths(self.files, self.paths),
            SshChecks(self.files, self.paths, self.runner),
            (7, "1.2"),
            PathChecks(self.files, lambda: self.users),
            self.told_guests,
        )

    async def told_guests(self, argument: object) -> list[str]:
        """There is none."""
        return []

    async def reaches(self, address: str) -> bool:
        """Half the network is down."""
        return address.startswith("192.0.2.")

    def verified(self, **checks: Any) -> dict[str, Any]:
        """The answer of the node."""
        asked = {name.replace("_", "-"): argument for name, argument in checks.items()}
        call = NodeVerify(checks=asked, cluster_name="cluster.example.com")
        answer = self.successResultOf(Deferred.fromCoroutine(self.checks.verify(call)))
        understood = decode_answer("node1", call, encode_success(answer))
        self.assertEqual(understood.get(FAILED), answer.get(FAILED))
        return answer

    def one(self, name: str, argument: Any = None) -> Any:
        """What one check gives."""
        return self.verified(**{name: argument})[name.replace("_", "-")]


class NodeChecksTests(NodeChecksCase):
    """What it has and runs."""

    def test_open_paths(self) -> None:
        """Secrets and directories that more users can use than should, or that are somebody else's; stricter is no fault,
        and neither is what others could do in a directory that they cannot enter."""
        put(self.files, self.paths.server_pem, b"", 0o666)
        put(self.files, self.paths.client_pem, b"", 0o400)
        put(self.files, self.paths.hmac_key, b"", 0o440)
        self.files.set_owner(self.paths.hmac_key, 7, 7)
        put(self.files, self.paths.data_dir / "ca.key", b"", 0o400)
        self.files.set_owner(self.paths.data_dir / "ca.key", 1000, 7)
        self.files.set_mode(self.paths.data_dir, 0o777)
        put(self.files, self.paths.rapi_users_file, b"", 0o644)
        self.files.set_mode(self.paths.rapi_users_file.parent, 0o750)
        faults = [
            "/var/lib/ganeti has mode 0777, not 0755",
            "/var/lib/ganeti/ca.key belongs to the user with id 1000, not to gnt-masterd",
            "/var/lib/ganeti/server.pem has mode 0666, not 0440",
        ]
        self.assertEqual(self.one("open-paths"), faults)
        self.users = None
        self.assertEqual(self.one("open-paths"), [])

    def test_itself(self) -> None:
        """Its versions and its time; what it does not know it leaves out."""
        self.assertEqual(self.verified(version=None, time=None, moon=None), {"version": [7, "1.2"], "time": 1000.0})

    def test_types(self) -> None:
        """The answer to each check has a type, by which the master understands it."""
        self.assertEqual({*self.checks._checks(), FAILED}, {*ANSWERS})

    def test_failed(self) -> None:
        """A check that cannot be made is told, and the others are made."""
        told = self.verified(hypervisor=["fake"], time=None)
        self.assertEqual(told, {"time": 1000.0, "failed": {"hypervisor": "the monitor is broken"}})
        self.assertEqual(
            self.one("hypervisor", ["xen-pvm"]), {"xen-pvm": "hypervisor xen-pvm is not available on this node"}
        )

    def test_broken(self) -> None:
        """What breaks a check is told of that one only, and stands in the node's log."""
        told = self.verified(oob_paths=7, hypervisor=[[]], time=None)
        self.assertEqual((told["time"], sorted(told["failed"])), (1000.0, ["hypervisor", "oob-paths"]))
        self.assertRegex(told["failed"]["hypervisor"], r"^internal error \(TypeError: .*\); on the node, .* has more$")
        self.assertEqual(len(self.flushLoggedErrors(TypeError)), 2)

    def test_formats(self) -> None:
        """As what machines read their disks; a hypervisor that cannot be asked says nothing, one that is broken why."""
        running = self.paths.fake_run_dir
        self.files.mkdir(running)
        machine = {"id": 1, "memory": 8, "vcpus": 1, "started": 0.0, "formats": {"d0": "raw"}}
        put(self.files, running / "web1", json.dumps(machine).encode())
        put(self.files, running / "web2", b"nothing")
        told = self.one(
            "disk-formats", [(kind, name) for kind in ("fake", "xen-pvm") for name in ("web1", "web2", "web3")]
        )
        self.assertEqual(told.pop("web1"), {"d0": "raw"})
        self.assertRegex(told.pop("web2"), "cannot read the state of instance web2")
        self.assertEqual(told, {})

    def test_network(self) -> None:
        """Who does not answer."""
        self.assertEqual(self.one("node_net_test", ["192.0.2.1", "198.51.100.1"]), ["198.51.100.1"])

    def test_interfaces(self) -> None:
        """Those that are missing; what is no name of one is missing, too."""
        self.files.mkdir(Path("/sys/class/net/eth0"))
        self.assertEqual(self.one("interfaces", ["eth0", "nosuch0", "../net/eth0"]), ["nosuch0", "../net/eth0"])

    def test_hosts(self) -> None:
        """Only what contradicts the cluster is a fault; a node without the file asks others."""
        wanted = {"node1.example.com": "192.0.2.1", "node2.example.com": "192.0.2.2"}
        self.assertEqual(self.one("node_setup", wanted), [])
        self.files.mkdir(self.paths.etc_hosts.parent)
        put(self.files, self.paths.etc_hosts, b"192.0.2.1 node1.example.com node1\n192.0.2.9 Node2.example.com\n")
        (fault,) = self.one("node_setup", wanted)
        self.assertEqual(fault, "/etc/hosts has the address 192.0.2.9 for node2.example.com, the cluster 192.0.2.2")
        wanted = {"node1.example.com": "2001:db8::1", "node2.example.com": "2001:db8::2"}
        self.assertEqual(self.one("node_setup", wanted), [])  # which are of another family
        put(
            self.files,
            self.paths.etc_hosts,
            b"192.0.2.1 node1.example.com\n2001:DB8::1 node1.example.com\n::9 node2.example.com\n",
        )
        (fault,) = self.one("node_setup", wanted)
        self.assertEqual(fault, "/etc/hosts has the address ::9 for node2.example.com, the cluster 2001:db8::2")

    def test_programs(self) -> None:
        """Programs must be there, and be programs."""
        good, bad = Path("/usr/bin/good"), Path("/usr/bin/bad")
        self.files.mkdir(good.parent)
        put(self.files, good, b"", 0o755)
        put(self.files, bad, b"", 0o644)
        found = self.one("oob_paths", [str(good), str(bad), "/nosuch"])
        self.assertEqual(found[:2], [None, "/usr/bin/bad: not an executable file"])
        self.assertIn("/nosuch", found[2])
        self.assertEqual(self.one("user_scripts"), [str(self.paths.external_master_setup_script)])

    def test_certificates(self) -> None:
        """How long each is good; one that is missing or nonsense is told."""
        put(self.files, self.paths.server_pem, cluster_keys()[1].server.bundle)
        put(self.files, self.paths.client_pem, b"nonsense")
        found = {path.rpartition("/")[2]: (days, fault) for path, days, fault in self.one("certificates")}
        self.assertGreater(found["server.pem"][0], 3000)
        self.assertEqual(found["client.pem"][1], "has no certificate in PEM form")
        self.assertTrue(found["ca.pem"][1].startswith("cannot be read: "))
        self.assertNotIn("rapi.pem", found)

    def test_volumes(self) -> None:
        """What is in a pool; of a template without a driver nothing is told."""
        self.store.disks["loop//srv/pool/web1/disk0"] = FakeDisk(1)
        found = self.one("volumes", {"file": "/srv/pool", "plain": "xenvg"})
        self.assertEqual(found, {"file": [["loop", "/srv/pool/web1/disk0"]], "plain": []})


class SshChecksTests(NodeChecksCase):
    """SSH of the node."""

    def faults(self, authorized: dict[str, str] | None) -> Sequence[str]:
        """What is wrong with its files."""
        found: Sequence[str] = self.one("ssh_files", ("node1 ssh-rsa HOST\n", authorized))
        return found

    def test_files(self) -> None:
        """What the cluster wants must be in both files; other lines of root's are root's business."""
        self.assertEqual(len(self.faults(KEYS)), 2)
        put(self.files, self.paths.known_hosts, b"node1 ssh-rsa HOST\n")
        self.assertEqual(len(self.faults(KEYS)), 1)
        self.assertEqual(self.faults(None), [])
        put(self.files, self.paths.root_authorized_keys, b"ssh-rsa MINE me@home\n" + OWN)
        self.assertEqual(self.faults(KEYS), [])
        self.assertEqual(self.faults({}), [])
        self.assertIn(
            "authorized_keys lacks the keys of root of node9.example.com", self.faults({"node9.example.com": "k"})[0]
        )

    def test_strangers(self) -> None:
        """Whose keys are there as the cluster's, and should not be; other lines, and files that are root's own, do not count."""
        put(self.files, self.paths.root_authorized_keys, b"ssh-rsa MINE root@node1.example.com\n(ganeti_tx)\n" + OWN)
        self.assertEqual(self.one("ssh_strangers", KEYS), [])
        self.assertEqual(self.one("ssh_strangers", {}), [f"root@{name}" for name in KEYS])
        self.assertEqual(self.one("ssh_strangers", None), [])

    def test_reach(self) -> None:
        """Who cannot be reached, and why; no question is asked and no unknown host believed."""
        self.runner.script(["ssh"], ProcessResult(status=255, stderr=b"Permission denied (publickey).\n"))
        found = self.one("ssh_reach", {"node2.example.com": 2222})
        self.assertEqual(found, {"node2.example.com": "exited with status 255: Permission denied (publickey)."})
        (call,) = self.runner.calls
        for word in ("-oBatchMode=yes", "-oStrictHostKeyChecking=yes", "-p2222", "node2.example.com"):
            self.assertIn(word, call.argv)

    def test_clutter(self) -> None:
        """Who has more than one key; strangers and comments do not count."""
        lines = [
            b"ssh-rsa A root@node1.example.com\n", b"ssh-rsa B root@node1.example.com\n", b"ssh-rsa C root@node2.example.com\n",
            b"ssh-rsa D me@home\n", b"ssh-rsa E me@home\n", b"# ssh-rsa F root@node2.example.com\n",
        ]  # fmt: skip
        put(self.files, self.paths.root_authorized_keys, b"".join(lines))
        found = self.one("ssh_clutter", ["node1.example.com", "node2.example.com"])
        self.assertEqual(found, ["root@node1.example.com"])
