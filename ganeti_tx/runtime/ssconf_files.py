"""The files of simple configuration on one node (Ganeti 3.0 configuration table, ssconf)."""

from collections.abc import Mapping
from pathlib import Path

from ganeti_tx.model.node_files import SSCONF
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


def ssconf_bytes(value: str) -> bytes:
    """What a value's file holds: it ends in a newline, unless it is empty."""
    return f"{value}\n".encode() if value else b""


async def write_ssconf(files: IFiles, paths: Paths, values: Mapping[str, str]) -> None:
    """Write the files of this node that do not hold their value yet. @raise OSError: one cannot be written."""
    wanted = {paths.ssconf_file(key): ssconf_bytes(value) for key, value in values.items()}
    changed = {path: data for path, data in wanted.items() if not holds(files, path, data)}
    if changed:
        await files.write_many(changed, SSCONF.mode)


def holds(files: IFiles, path: Path, data: bytes) -> bool:
    """Whether a file has exactly this content."""
    try:
        return files.stat(path).size == len(data) and files.read(path, len(data)) == data
    except OSError:
        return False
