"""Console passwords, which QEMU is given over QMP only."""

from pathlib import Path

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.displays import read_password, read_vnc_password
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.runtime.files import IFiles


async def set_passwords(files: IFiles, params: KvmParams, client: QmpClient) -> None:
    """Set what is needed before anybody may connect. @raise HypervisorError: a file is unusable; it names the file."""
    if params.vnc_bind_address and params.vnc_password_file:
        password = read_vnc_password(files, Path(params.vnc_password_file))
        await client.execute("set_password", {"protocol": "vnc", "password": password})
    if params.spice_bind and params.spice_password_file:
        password = read_password(files, Path(params.spice_password_file))
        await client.execute("set_password", {"protocol": "spice", "password": password})
