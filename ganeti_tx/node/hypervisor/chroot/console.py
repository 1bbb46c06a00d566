"""The console of an instance in a chroot: a shell in its root, on the instance's node."""

from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.hypervisor import ConsoleKind
from ganeti_tx.node.hypervisor.chroot.layout import ChrootLayout


def told_console(layout: ChrootLayout) -> ToldConsole:
    """A command over SSH."""
    return ToldConsole(kind=ConsoleKind.SSH, command=["chroot", str(layout.root), "/bin/sh"])
