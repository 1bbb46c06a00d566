"""Console passwords: read from the files the parameters name, given to QEMU over QMP only."""

from pathlib import Path

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.runtime.files import IFiles

LIMIT = 4096
#: What the VNC protocol can carry; QEMU cuts the rest off without a word.
VNC_PASSWORD_LIMIT = 8


async def set_passwords(files: IFiles, params: KvmParams, client: QmpClient) -> None:
    """Set what is needed before anybody may connect. @raise HypervisorError: a file is unusable; it names the file."""
    if params.vnc_bind_address and params.vnc_password_file:
        password = read_password(files, Path(params.vnc_password_file))[:VNC_PASSWORD_LIMIT]
        await client.execute("set_password", {"protocol": "vnc", "password": password})
    if params.spice_bind and params.spice_password_file:
        password = read_password(files, Path(params.spice_password_file))
        await client.execute("set_password", {"protocol": "spice", "password": password})


def read_password(files: IFiles, path: Path) -> str:
    """The first line. @raise HypervisorError: no such file, or an empty one."""
    try:
        password = files.read(path, LIMIT).decode("utf-8").partition("\n")[0].strip()
    except OSError as error:
        raise HypervisorError(f"cannot read the console password: {error.strerror}: {path}")
    except UnicodeDecodeError:
        raise HypervisorError(f"the console password is not UTF-8 text: {path}")
    if not password:
        raise HypervisorError(f"the console password is empty: {path}")
    return password
