"""The keys that a member has while it is set up anew, so that it gets them back when nothing comes of that.

They lie where a reboot removes them, and beside the daemons' own run directory: in that one each of the daemons' users could put
a link in their place, and root would write what it leads to where everybody may read it. Once the node has been added again
they are of no use: nobody is known by them.
"""

import shutil
from pathlib import Path

from ganeti_tx.bootstrap.keys import AT_JOIN, write_file, write_private
from ganeti_tx.model.node_files import SERVER_CERTIFICATE
from ganeti_tx.runtime.paths import Paths

NAME = "ganeti-before-join"
DIRECTORY_MODE = 0o700
KEPT_MODE = 0o400


def directory(paths: Paths) -> Path:
    """Where they are kept."""
    return paths.run_dir.with_name(NAME)


def is_kept(paths: Paths) -> bool:
    """Whether this node was a member before."""
    return (directory(paths) / SERVER_CERTIFICATE.pattern).exists()


def keep(paths: Paths) -> None:
    """Put copies aside. @raise OSError"""
    directory(paths).mkdir(mode=DIRECTORY_MODE)
    for file in AT_JOIN:
        if paths.of(file).exists():
            write_private(directory(paths) / file.pattern, paths.of(file).read_bytes(), KEPT_MODE)


def put_back(paths: Paths) -> None:
    """Have them in their places again. @raise OSError"""
    for file in AT_JOIN:
        kept = directory(paths) / file.pattern
        if kept.exists():
            write_file(paths, file, kept.read_bytes())
    drop(paths)


def drop(paths: Paths) -> None:
    """Forget them."""
    shutil.rmtree(directory(paths), ignore_errors=True)
