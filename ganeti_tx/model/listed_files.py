"""Files that are not the cluster's own, and travel with its keys (design-2.1, "Redistribute Config").

Those of hypervisors, which their parameters name, and those that the administrator lists. Whoever may change one instance
may have its parameters name any file, so that what only they name is sent from one directory alone.
"""

import posixpath
from collections.abc import Iterable, Iterator

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.node_files import DATA, DISTRIBUTED_FILES, FILES
from ganeti_tx.model.params.hypervisor import fill_hvparams, instance_hvparams

#: So many files, of so many bytes each and together: they are read anew for each node, by the daemon that has the locks.
MOST_FILES = 200
MAX_FILE = 1 << 20
MAX_TOGETHER = 16 << 20
#: What is there is the kernel's, a daemon's, or has rules of its own.
CLOSED = (DATA, "/dev", "/proc", "/run", "/sys", "/var/run")
#: Where a file is that is sent because a parameter names it; but not those that root runs.
OF_PARAMETERS = "/etc/ganeti"
PROGRAMS = tuple(f"{OF_PARAMETERS}/{name}" for name in ("hooks", "restricted-commands", "scripts"))


def path_fault(path: str) -> str | None:
    """Why a file of that path cannot be sent; None: it can."""
    if not _is_plain(path):
        return "give the whole path, without . and .. and with single slashes"
    if any(file.is_at(path) for file in FILES):
        return "the cluster sends it by itself"
    closed = _above(path, CLOSED)
    return None if closed is None else f"nothing below {closed} is sent"


def parameter_fault(path: str) -> str | None:
    """Why a file is not sent that a parameter names and no administrator listed; None: it can be."""
    if fault := path_fault(path):
        return fault
    if _above(path, (OF_PARAMETERS,)) is None or _above(path, PROGRAMS) is not None:
        return (
            f"a parameter of a hypervisor names it, and such files are sent from {OF_PARAMETERS} only, and none of its "
            f"programs; list it in {DISTRIBUTED_FILES.path} and run 'gnt-cluster redist-conf', or keep it alike on all nodes"
        )
    return None


def _is_plain(path: str) -> bool:
    """Whether it is whole and in its normal form. For normpath two slashes at the beginning are normal."""
    two_slashes = path.startswith("//")
    return (
        path.startswith("/")
        and not two_slashes
        and path != "/"
        and posixpath.normpath(path) == path
        and "\0" not in path
    )


def _above(path: str, directories: Iterable[str]) -> str | None:
    """The one of them that a path is, or is below."""
    return next((each for each in directories if path == each or path.startswith(f"{each}/")), None)


def listed(text: str) -> list[str]:
    """The paths of a list: one a line; blank lines and those that begin with # are for people. It travels by itself."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#") and line != DISTRIBUTED_FILES.path]


def files_of_hypervisors(cluster: Cluster, instances: Iterable[Instance]) -> list[str]:
    """The files that parameters of the cluster and of its instances name, in order."""
    return sorted(set(_named(cluster, instances)) - {""})


def _named(cluster: Cluster, instances: Iterable[Instance]) -> Iterator[str]:
    for hypervisor in cluster.enabled_hypervisors:
        names = HYPERVISORS[hypervisor].shared_files
        filled = fill_hvparams(cluster, hypervisor)
        yield from (str(filled[name]) for name in names)
    for instance in instances:
        if names := HYPERVISORS[instance.hypervisor].shared_files:
            filled = instance_hvparams(cluster, instance)
            yield from (str(filled[name]) for name in names)
