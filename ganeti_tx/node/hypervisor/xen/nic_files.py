"""What a script that connects an interface can read: a file for each interface of a domain, with a variable a line."""

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.instance_record import write
from ganeti_tx.node.hypervisor.nics.script_environment import script_environment
from ganeti_tx.node.hypervisor.xen.layout import DIRECTORY_MODE, DomainLayout
from ganeti_tx.runtime.files import IFiles

FILE_MODE = 0o640
FILE_LIMIT = 1 << 16


async def write_nics(files: IFiles, layout: DomainLayout, spec: InstanceSpec) -> None:
    """@raise HypervisorError: the disk does not take it."""
    if spec.nics:
        files.mkdir(layout.nics, DIRECTORY_MODE)
    for number, nic in enumerate(spec.nics):
        told = {**script_environment(spec, nic, number, ""), "HYPERVISOR": spec.hypervisor}
        del told["INTERFACE"]  # which Xen itself names
        text = "".join(f"{name}={' '.join(value.split())}\n" for name, value in told.items())
        await write(files, layout.nics / str(number), text.encode(), FILE_MODE)


def number_of(files: IFiles, layout: DomainLayout, uuid: str) -> str | None:
    """By which Xen knows an interface of the domain; None: it was started without this one."""
    line = f"INTERFACE_UUID={uuid}"
    numbers = files.listdir(layout.nics) if files.exists(layout.nics) else []
    texts = {number: files.read(layout.nics / number, FILE_LIMIT).decode("utf-8", "replace") for number in numbers}
    return next((number for number, text in texts.items() if line in text.splitlines()), None)
