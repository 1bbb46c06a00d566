"""Which tap is which interface, in files for administrators' scripts."""

from collections.abc import Sequence

from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.state import NicState
from ganeti_tx.runtime.files import IFiles

DIRECTORY_MODE = 0o750


async def name_taps(files: IFiles, layout: InstanceLayout, nics: Sequence[NicState]) -> None:
    """A file for each interface, named by its number."""
    taps = {str(number): nic.tap for number, nic in enumerate(nics) if nic.tap}
    if files.exists(layout.nic_dir):
        for name in set(files.listdir(layout.nic_dir)) - taps.keys():
            files.remove(layout.nic_dir / name)
    for name, tap in taps.items():
        files.mkdir(layout.nic_dir, DIRECTORY_MODE)
        await files.write_atomic(layout.nic_dir / name, tap.encode(), sync=False)
