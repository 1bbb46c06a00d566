"""Noticing that another node has become the master: a Remote API that still answered here would have no luxid to ask."""

from collections.abc import Callable

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.mastership.this_node import NotMasterError, check_ssconf_master
from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


def watch_master(
    files: IFiles, paths: Paths, watch: IFileWatch, own_name: str, leave: Callable[[NotMasterError], None]
) -> None:
    """Call `leave`, from now on, when simple configuration names another node; what cannot be read says nothing."""
    path = paths.ssconf_file("master_node")

    def changed(name: str) -> None:
        if name != path.name:
            return
        try:
            check_ssconf_master(files, paths, own_name)
        except NotMasterError as error:
            leave(error)
        except ConfigurationError:
            return

    watch.watch(path.parent, changed)
