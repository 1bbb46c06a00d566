"""The configuration of a domain, which xl reads when it makes it (xl.cfg(5))."""

from collections.abc import Iterator
from pathlib import Path

from ganeti_tx.node.hypervisor.affinity import ALL
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import XenKind, XenParams
from ganeti_tx.node.hypervisor.xen.parameters import masks
from ganeti_tx.node.hypervisor.xen.values import line
from ganeti_tx.runtime.files import IFiles

HEAD = "# Of a Ganeti instance: written anew at each start, and removed when it is stopped."
MAX_FILE = 1 << 18


def is_ours(files: IFiles, path: Path) -> bool:
    """Whether a configuration was written here, and not by an administrator for a domain of theirs."""
    try:
        return files.read(path, MAX_FILE).startswith(HEAD.encode())
    except OSError:
        return False


def config_text(kind: XenKind, guest: Guest) -> str:
    """The whole file. @raise HypervisorError: a value cannot be written down."""
    params = kind.params(guest.spec.hvparams)
    lines = [HEAD, *_basics(guest, params), *_processors(guest, params), *kind.lines(guest), *_endings(guest, params)]
    return "".join(f"{each}\n" for each in lines)


def _basics(guest: Guest, params: XenParams) -> Iterator[str]:
    yield line("name", guest.spec.name)
    yield line("uuid", guest.spec.uuid)
    yield line("memory", guest.memory)
    yield line("maxmem", guest.memory)
    yield line("vcpus", guest.vcpus)
    if params.cpuid:
        yield line("cpuid", params.cpuid)
    if params.soundhw:
        yield line("soundhw", params.soundhw)


def _processors(guest: Guest, params: XenParams) -> Iterator[str]:
    """Which of the node's the guest may use, and how much of them."""
    if params.cpu_mask != ALL:
        masks(params, guest)  # which must fit
        parts = params.cpu_mask.split(":")
        yield line("cpus", parts[0] if len(parts) == 1 else parts)
    yield line("cpu_weight", params.cpu_weight)
    if params.cpu_cap:
        yield line("cap", params.cpu_cap)


def _endings(guest: Guest, params: XenParams) -> Iterator[str]:
    """What becomes of the domain: it is kept only to be seen that the guest itself has ended it."""
    over = "preserve" if guest.stays else "destroy"
    yield line("on_poweroff", over)
    yield line("on_reboot", "restart" if params.reboot_behavior == "reboot" else over)
    yield line("on_crash", over)
