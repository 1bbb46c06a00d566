"""Which instances of this node are told of themselves: each has a file for a metadata daemon that is started again."""

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_leftovers import is_temporary
from ganeti_tx.runtime.paths import Paths


def told_guests(files: IFiles, paths: Paths) -> list[str]:
    """Their names; while there are any the daemon is to run."""
    kept = files.listdir(paths.metadata_dir) if files.exists(paths.metadata_dir) else []
    return sorted(name for name in kept if not is_temporary(name))
