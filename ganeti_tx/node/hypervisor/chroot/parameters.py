"""Which values of a chroot's parameters make sense."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.chroot import ChrootParams
from ganeti_tx.node.hypervisor.parameters import typed_params

#: Bytes that the kernel takes for a path, with the NUL at its end.
LONGEST = 4095


def init_script_of(hvparams: Mapping[str, Any]) -> str:
    """The script's path as it is below the instance's root. @raise HypervisorError: it is none, with what is allowed."""
    script = typed_params(hvparams, ChrootParams, "chroot").init_script
    inside = f"/{script.lstrip('/')}"
    if inside == "/" or not inside.isprintable() or ".." in inside.split("/") or len(inside.encode()) > LONGEST:
        raise HypervisorError(
            f"init_script: {script[:200]!r} is not the path of a program below the instance's root, such as"
            f" {ChrootParams().init_script}"
        )
    return inside
