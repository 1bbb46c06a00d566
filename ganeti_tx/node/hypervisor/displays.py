"""What displays have under every hypervisor: passwords, which are read from files that parameters name."""

from pathlib import Path

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.files import IFiles

#: What the VNC protocol can carry; QEMU cuts the rest off without a word.
VNC_PASSWORD_LIMIT = 8
LIMIT = 4096


def read_vnc_password(files: IFiles, path: Path) -> str:
    """As much of it as VNC carries. @raise HypervisorError: no such file, or an empty one."""
    return read_password(files, path)[:VNC_PASSWORD_LIMIT]


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
