"""Files that are not the cluster's own, and travel with its keys (design-2.1, "Redistribute Config").

Those of hypervisors, which their parameters name, and those that the administrator lists.
"""

import posixpath
from collections.abc import Iterator

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.node_files import DATA, DISTRIBUTED_FILES, FILES
from ganeti_tx.model.params.hypervisor import fill_hvparams, instance_hvparams

#: So many files, of so many bytes each and together: they are read anew for each node, by the daemon that has the locks.
MOST_FILES = 200
MAX_FILE = 1 << 20
MAX_TOGETHER = 16 << 20
#: What is there is the kernel's, a daemon's, or has rules of its own.
CLOSED = (DATA, "/dev", "/proc", "/run", "/sys", "/var/run")


def path_fault(path: str) -> str | None:
    """Why a file of that path cannot be sent; None: it can."""
    if not path.startswith("/") or path == "/" or posixpath.normpath(path) != path or "\0" in path:
        return "give the whole path, without . and .."
    if any(file.is_at(path) for file in FILES):
        return "the cluster sends it by itself"
    closed = next((each for each in CLOSED if path == each or path.startswith(f"{each}/")), None)
    return None if closed is None else f"nothing below {closed} is sent"


def listed(text: str) -> list[str]:
    """The paths of a list: one a line; blank lines and those that begin with # are for people. It travels by itself."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#") and line != DISTRIBUTED_FILES.path]


def files_of_hypervisors(config: ConfigData) -> list[str]:
    """The files that parameters of the cluster and of its instances name, in order."""
    return sorted(set(_named(config)) - {""})


def _named(config: ConfigData) -> Iterator[str]:
    cluster = config.cluster
    for hypervisor in cluster.enabled_hypervisors:
        names = HYPERVISORS[hypervisor].shared_files
        filled = fill_hvparams(cluster, hypervisor)
        yield from (str(filled[name]) for name in names)
    for instance in config.instances.values():
        if names := HYPERVISORS[instance.hypervisor].shared_files:
            filled = instance_hvparams(cluster, instance)
            yield from (str(filled[name]) for name in names)
