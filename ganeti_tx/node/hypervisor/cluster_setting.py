"""What the cluster has decided for all its nodes, as the simple configuration of this one says."""

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

LIMIT = 1024


def cluster_setting(files: IFiles, paths: Paths, key: str) -> str:
    """The value of a key; empty when there is none."""
    try:
        return files.read(paths.ssconf_file(key), LIMIT).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return ""


def users_may_shut_down(files: IFiles, paths: Paths) -> bool:
    """Whether a guest that powers itself off is told of as such."""
    return cluster_setting(files, paths, "enabled_user_shutdown") == "True"
