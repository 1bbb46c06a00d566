"""The console of a domain: xl's own, on the instance's node."""

from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.hypervisor import ConsoleKind
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.own_modules import module_argv


def told_console(layout: DomainLayout) -> ToldConsole:
    """A command over SSH; it lets a domain run that was started paused, once somebody can see what it says."""
    return ToldConsole(kind=ConsoleKind.SSH, command=module_argv("ganeti_tx.xen_console", layout.name))
