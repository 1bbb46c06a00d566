"""The console of a container: LXC's own, on the instance's node."""

from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.hypervisor import ConsoleKind
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout
from ganeti_tx.node.hypervisor.lxc.parameters import lxc_params


def told_console(instance: InstanceSpec, layout: ContainerLayout) -> ToldConsole:
    """A command over SSH; a message where it has no terminals. @raise HypervisorError: a parameter has the wrong type."""
    if not lxc_params(instance.hvparams).num_ttys:
        text = f"Instance {instance.name} has no console: its parameter num_ttys is 0"
        return ToldConsole(kind=ConsoleKind.MESSAGE, message=text)
    command = ["lxc-console", "-P", str(layout.above), "-n", layout.name, "-t", "0"]
    return ToldConsole(kind=ConsoleKind.SSH, command=command)
