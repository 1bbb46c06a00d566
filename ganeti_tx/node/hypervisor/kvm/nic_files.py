"""Which tap is which interface, in files for administrators' scripts."""

from collections.abc import Sequence
from pathlib import Path

from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.state import NicState
from ganeti_tx.node.hypervisor.nics.names import is_tap_name
from ganeti_tx.runtime.files import IFiles

DIRECTORY_MODE = 0o750
#: Bytes; far more than an interface's name can have.
LIMIT = 4096


def named_taps(files: IFiles, layout: InstanceLayout) -> list[NicState]:
    """The interfaces of an instance of which nothing else is remembered: only what their taps are called is known."""
    if not files.exists(layout.nic_dir):
        return []
    taps = [_tap_in(files, layout.nic_dir / name) for name in files.listdir(layout.nic_dir)]
    return [NicState(uuid="", mac="", mode="", link="", tap=tap) for tap in taps if tap]


def _tap_in(files: IFiles, path: Path) -> str:
    try:
        name = files.read(path, LIMIT).decode("ascii")
    except (OSError, UnicodeDecodeError):
        return ""
    return name if is_tap_name(name) else ""


async def name_taps(files: IFiles, layout: InstanceLayout, nics: Sequence[NicState]) -> None:
    """A file for each interface, named by its number."""
    taps = {str(number): nic.tap for number, nic in enumerate(nics) if nic.tap}
    if files.exists(layout.nic_dir):
        for name in set(files.listdir(layout.nic_dir)) - taps.keys():
            files.remove(layout.nic_dir / name)
    for name, tap in taps.items():
        files.mkdir(layout.nic_dir, DIRECTORY_MODE)
        await files.write_atomic(layout.nic_dir / name, tap.encode(), sync=False)
