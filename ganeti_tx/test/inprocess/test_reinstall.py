"""Operating systems are installed anew on instances."""

from ganeti_tx.rpc.calls.instance import InstanceOsAdd
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.network import Says
from ganeti_tx.test.inprocess.test_rapi import RapiCase
from ganeti_tx.test.inprocess.test_undo import fail_kind

ADD = "gnt-instance add -t file -s 1G -o noop -n node2 --no-start"
NAME = "web1.example.com"
REINSTALL = "gnt-instance reinstall -f web1"


class ReinstallCase(ClusterCase):
    """With one stopped instance, and a second system on its node."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster.node(2).add_os("other")
        self.ok(f"{ADD} web1")
        self.cluster.node(2).scripts.calls.clear()

    def runs(self) -> list[Call]:
        """The runs of create scripts since the instance was made."""
        return [call for call in self.cluster.node(2).scripts.calls if call.argv[0].endswith("/create")]


class ReinstallTests(ReinstallCase):
    """By commands."""

    def system(self) -> tuple[str, dict[str, str]]:
        """What the configuration says."""
        (instance,) = self.cluster.config.instances.values()
        return instance.os, dict(instance.osparams)

    def test_same(self) -> None:
        """The create script runs on the same disks, and is told that it is not for the first time."""
        before = self.cluster.disks()
        said = self.ok(REINSTALL)
        self.assertIn("Waiting for job 2 for web1.example.com ...\n", said)
        self.assertIn("- INFO: Running instance OS create scripts...", said)
        (call,) = self.runs()
        self.assertEqual((call.env["INSTANCE_NAME"], call.env["INSTANCE_REINSTALL"]), (NAME, "1"))
        self.assertEqual((self.cluster.disks(), self.system()), (before, ("noop", {})))

    def test_other(self) -> None:
        """Another system, and parameters, are remembered; secret ones are only told."""
        said = self.ok(
            f"{REINSTALL.replace('-f', '-f -o other -O flavour=mint')}".replace(
                "web1", "--os-parameters-secret flavour=key9 web1"
            )
        )
        self.assertIn("Changing OS scripts to 'other'...", said)
        self.assertEqual(self.runs()[0].env["OSP_FLAVOUR"], "key9")
        self.assertEqual(self.system(), ("other", {"flavour": "mint"}))
        self.ok(REINSTALL)
        self.assertEqual(self.runs()[1].env["OSP_FLAVOUR"], "mint")
        self.ok(REINSTALL.replace("-f", "-f -O flavour=default"))
        self.assertEqual(self.system(), ("other", {}))

    def test_secrets(self) -> None:
        """Private parameters are kept, secret ones not; nor do they stand in a job's file."""
        options = "--os-parameters-private flavour=key8"
        self.ok(REINSTALL.replace("-f", f"-f {options}"))
        (instance,) = self.cluster.config.instances.values()
        self.assertEqual(dict(instance.osparams_private), {"flavour": "key8"})
        self.ok(REINSTALL.replace("-f", "-f --os-parameters-secret flavour=key9"))
        files = self.cluster.master.disk
        jobs = b"".join(files.read(self.cluster.paths.job_file(number), 1 << 20) for number in (2, 3))
        self.assertNotIn(b"key9", jobs)

    def test_refused(self) -> None:
        """What cannot be installed is refused before anything is done."""
        self.ok("gnt-instance add -t diskless -o noop -n node2 --no-start web2")
        self.cluster.node(2).scripts.calls.clear()
        serial = self.cluster.config.serial_no
        self.fails("gnt-instance reinstall -f web2", "'web2.example.com' has no disks")
        self.fails(REINSTALL.replace("-f", "-f -o nosuchos"), "OS nosuchos not found")
        self.fails(REINSTALL.replace("-f", "-f -o noop+variant"), "does not support variants")
        self.fails(REINSTALL.replace("-f", "-f -O colour=red"), "not supported by the OS noop: colour")
        self.fails("gnt-instance reinstall", "No instance names passed")
        self.fails("gnt-instance reinstall web1", "--force answers beforehand")
        self.fails("gnt-instance reinstall -f nosuch", "Selection filter does not match any instances")
        self.assertEqual((self.runs(), self.cluster.config.serial_no), ([], serial))

    def test_running(self) -> None:
        """An instance that is to be up keeps its data."""
        self.ok("gnt-instance startup web1")
        self.fails(REINSTALL, "'web1.example.com' is marked to be up, cannot reinstall")
        self.assertEqual(self.runs(), [])

    def test_not_allowed(self) -> None:
        """A system that the cluster forbids is not installed."""
        self.ok("gnt-os modify --blacklisted=yes other")
        self.fails(REINSTALL.replace("-f", "-f -o other"), "Guest OS 'other' is not allowed for installation")

    def test_fails(self) -> None:
        """When the script fails, the configuration says what it said."""
        self.cluster.network.fault = fail_kind(InstanceOsAdd, Says("no such mirror"))
        self.fails(REINSTALL.replace("-f", "-f -o other -O flavour=mint"), "could not install OS other.*no such mirror")
        self.assertEqual(self.system(), ("noop", {}))

    def test_node_offline(self) -> None:
        """Its node has to be there."""
        self.cluster.node(2).stop()
        self.ok("gnt-node modify -f -O yes node2")
        self.fails(REINSTALL, "Instance primary node offline, cannot reinstall: node2.example.com")

    def test_several(self) -> None:
        """Each in a job of its own, after one question."""
        self.ok(f"{ADD} web2")
        self.cluster.node(2).scripts.calls.clear()
        self.fails("gnt-instance reinstall -f web1 web2", "--force-multiple answers beforehand")
        said = self.ok("gnt-instance reinstall --force-multiple --all")
        self.assertRegex(said, r"^Submitted jobs \d+, \d+\n")
        self.assertEqual({call.env["INSTANCE_NAME"] for call in self.runs()}, {NAME, "web2.example.com"})


class RemoteTests(RapiCase):
    """By the Remote API."""

    def test_reinstall_and_rename(self) -> None:
        """A job stops the instance, installs it and starts it; a stopped one gets another name."""
        self.ok(f"{ADD.removesuffix(' --no-start')} web1")
        self.done("POST", f"/2/instances/{NAME}/reinstall", {"os": "noop", "osparams": {"flavour": "mint"}})
        (instance,) = self.cluster.config.instances.values()
        self.assertEqual(dict(instance.osparams), {"flavour": "mint"})
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.done("POST", f"/2/instances/{NAME}/reinstall", {"start": False})
        self.assertEqual(self.cluster.running(), {})
        self.done("PUT", f"/2/instances/{NAME}/rename", {"new_name": "web2.example.com"})
        (instance,) = self.cluster.config.instances.values()
        self.assertEqual(instance.name, "web2.example.com")


class SecretTests(ClusterCase):
    """Secret parameters in the queue."""

    def test_come_through(self) -> None:
        """A job gets them, and its log has their names alone."""
        said = self.ok("gnt-debug test-osparams --os-parameters-secret key=hunter2")
        self.assertIn("Secret OS parameters: {'key': <redacted>}", said)
