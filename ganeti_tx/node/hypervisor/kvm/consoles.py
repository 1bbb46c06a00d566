"""Which console an instance has, and how to get there."""

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.hypervisor import ConsoleKind
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.ip_family import is_every_address
from ganeti_tx.node.hypervisor.kvm.command.display import vnc_socket
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.on_this_node import OnThisNode
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.parameters import kvm_params
from ganeti_tx.own_modules import module_argv


@frozen
class Consoles:
    """Of this node's instances, whether they run or not."""

    machines: OwnMachines
    here: OnThisNode

    async def of(self, instance: InstanceSpec) -> ToldConsole:
        """See `IHypervisor.console`."""
        layout = self.machines.layout(instance.name)
        state = self.machines.readable_state(layout)
        if state is None or (params := state.params) is None:  # what runs is as it was started
            params = await self.here.settled(kvm_params(instance.hvparams))
        return told_console(instance, params, layout)


def told_console(spec: InstanceSpec, params: KvmParams, layout: InstanceLayout) -> ToldConsole:
    """The serial console before VNC before SPICE. @raise HypervisorError: VNC or SPICE without a port."""
    if params.serial_console:
        return ToldConsole(kind=ConsoleKind.SSH, command=module_argv("ganeti_tx.console", str(layout.serial)))
    if params.vnc_bind_address and not params.vnc_bind_address.startswith("/"):
        return _display(spec, ConsoleKind.VNC, params.vnc_bind_address)
    if params.spice_bind:
        return _display(spec, ConsoleKind.SPICE, params.spice_bind)
    if params.vnc_bind_address:
        where = f"the socket {vnc_socket(params.vnc_bind_address, spec.name)} of node {spec.primary_node}"
        text = f"Instance {spec.name} has VNC listening on {where}"
    else:
        which = "neither serial_console nor vnc_bind_address nor spice_bind"
        text = f"No serial shell for instance {spec.name}: it has {which}"
    return ToldConsole(kind=ConsoleKind.MESSAGE, message=text)


def _display(spec: InstanceSpec, kind: ConsoleKind, bind: str) -> ToldConsole:
    if spec.network_port is None:
        raise HypervisorError(f"instance {spec.name} has no network port for {kind.upper()}")
    return ToldConsole(kind=kind, host=None if is_every_address(bind) else bind)
