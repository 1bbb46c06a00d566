"""What a QEMU has said in the background."""

from ganeti_tx.model.printable import printable_lines
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.runtime.files import IFiles

MAX_LOG = 1 << 20
WARNING = ": warning: "


def said(files: IFiles, layout: InstanceLayout) -> list[str]:
    """Its lines; none when the log is not there, or very much is in it."""
    try:
        return printable_lines(files.read(layout.log, MAX_LOG).strip())
    except OSError:
        return []


def complaints(files: IFiles, layout: InstanceLayout, most: int, longest: int) -> str:
    """The last lines by which it says what is wrong."""
    lines = [line for line in said(files, layout) if WARNING not in line]
    return "; ".join(line[:longest] for line in lines[-most:])
