"""What parameters come down to on a node: addresses of interfaces, and what the cluster allows."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.on_this_node import OnThisNode
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.node.hypervisor.kvm.parts import PATHS

#: As iproute2 6.1 prints an interface.
PRINTED = (
    b'[{"ifindex":2,"ifname":"eth0","addr_info":[{"family":"inet6","local":"fe80::1","prefixlen":64,"scope":"link"},'
    b'{"family":"inet","local":"192.0.2.7","prefixlen":24,"scope":"global"}]}]\n'
)


class OnThisNodeTests(SynchronousTestCase):
    """A node with simple configuration and one interface."""

    def setUp(self) -> None:
        self.files, self.runner = MemoryFiles(), FakeProcessRunner()
        self.here = OnThisNode(PATHS, self.files, self.runner)

    def configure(self, **settings: str) -> None:
        """Write simple configuration."""
        for key, value in settings.items():
            path = PATHS.ssconf_file(key)
            self.files.mkdir(path.parent)
            self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, f"{value}\n".encode())))

    def settling(self, **params: Any) -> Deferred[KvmParams]:
        """The parameters, as they are on this node."""
        return Deferred.fromCoroutine(self.here.settled(KvmParams(**params)))

    def test_user_shutdown(self) -> None:
        """Both the cluster's setting and the parameter must be true."""
        for setting, parameter, settled in (("True", True, True), ("True", False, False), ("False", True, False)):
            self.configure(enabled_user_shutdown=setting)
            self.assertEqual(self.successResultOf(self.settling(user_shutdown=parameter)).user_shutdown, settled)

    def test_no_configuration(self) -> None:
        """Without simple configuration the cluster allows nothing."""
        self.assertFalse(self.successResultOf(self.settling(user_shutdown=True)).user_shutdown)

    def test_addresses(self) -> None:
        """An address, a directory and nothing stay as they are, and nobody is asked."""
        for bind in ("", "0.0.0.0", "::1", "/run/vnc"):
            self.assertEqual(self.successResultOf(self.settling(vnc_bind_address=bind)).vnc_bind_address, bind)
        self.assertEqual(self.runner.commands, [])

    def test_interface(self) -> None:
        """An interface stands for the first address of the version that is asked for, or that the cluster has."""
        self.runner.script(["ip"], ProcessResult(stdout=PRINTED))
        for family, version, flag in (("2", 0, "-4"), ("10", 0, "-6"), ("10", 4, "-4"), ("2", 6, "-6")):
            self.configure(primary_ip_family=family)
            settled = self.successResultOf(self.settling(spice_bind="eth0", spice_ip_version=version))
            self.assertEqual(settled.spice_bind, "192.0.2.7")
            self.assertIn(flag, self.runner.commands[-1])

    def test_bad_interface(self) -> None:
        """One that is not here or has no address is told by parameter and name."""
        for bind, result in (
            ("eth9", ProcessResult(status=1, stderr=b'Device "eth9" does not exist.\n')),
            ("eth1", ProcessResult(stdout=b'[{"addr_info":[]}]')),
            ("eth1", ProcessResult(stdout=b"{")),
        ):
            self.runner.script(["ip"], result)
            failure = self.failureResultOf(self.settling(vnc_bind_address=bind), HypervisorError)
            self.assertIn("vnc_bind_address", str(failure.value))
            self.assertIn(bind, str(failure.value))
            asking = Deferred.fromCoroutine(self.here.faults(KvmParams(vnc_bind_address=bind)))
            self.assertEqual(self.successResultOf(asking), [str(failure.value)])
        self.assertEqual(self.successResultOf(Deferred.fromCoroutine(self.here.faults(KvmParams()))), [])
