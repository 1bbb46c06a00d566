"""A node tells of many consoles at once."""

from typing import Any, cast

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.hypervisor import ConsoleKind
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.instances import Instances
from ganeti_tx.rpc.calls.instance import InstanceConsoles


@frozen
class WithoutPorts:
    """A hypervisor whose instances named "bare" have no console."""

    async def owner(self, name: str, other_than: str) -> None:
        """As IHypervisor says; no machine is another instance's."""

    async def console(self, instance: InstanceSpec) -> ToldConsole:
        """As IHypervisor says."""
        if instance.name == "bare":
            raise HypervisorError("instance bare has no network port for VNC")
        return ToldConsole(kind=ConsoleKind.MESSAGE, message=instance.name)


def spec(name: str, hypervisor: str = "kvm") -> InstanceSpec:
    """As much as a console needs."""
    return InstanceSpec(
        name=name, uuid=f"{name}-uuid", primary_node="node1", hypervisor=hypervisor, os="noop", hvparams={}, beparams={}
    )


class ConsolesTests(SynchronousTestCase):
    """Three instances."""

    def test_left_out(self) -> None:
        """One without a console, and one of a hypervisor that the node does not have, take nothing from the others."""
        node = Instances(cast(Any, {"kvm": WithoutPorts()}), cast(Any, None), "node1")
        call = InstanceConsoles(instances=[spec("bare"), spec("web"), spec("other", "xen-pvm")])
        found = self.successResultOf(Deferred.fromCoroutine(node.consoles(call)))
        self.assertEqual(found, {"web": ToldConsole(kind=ConsoleKind.MESSAGE, message="web")})
