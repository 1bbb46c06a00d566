"""Which values of a chroot's parameters make sense."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.chroot import ChrootParams

#: Bytes that the kernel takes for a path, with the NUL at its end.
LONGEST = 4095


def init_script_of(hvparams: Mapping[str, Any]) -> str:
    """The script's path as it is below the instance's root. @raise HypervisorError: it is none, with what is allowed."""
    try:
        script = msgspec.convert(hvparams, ChrootParams).init_script
    except msgspec.ValidationError as error:
        raise HypervisorError(f"chroot parameters: {error}")
    inside = f"/{script.lstrip('/')}"
    if inside == "/" or not inside.isprintable() or ".." in inside.split("/") or len(inside.encode()) > LONGEST:
        raise HypervisorError(
            f"init_script: {script[:200]!r} is not the path of a program below the instance's root, such as"
            f" {ChrootParams().init_script}"
        )
    return inside
