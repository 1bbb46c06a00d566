"""Nodes of a devcluster that have the directory of files each for itself, as real nodes have, and not together."""

import os
import subprocess
from pathlib import Path
from unittest import SkipTest

from ganeti_tx.bootstrap.start import stop
from ganeti_tx.devcluster.layout import DevNode, Layout
from ganeti_tx.runtime.daemon_names import NODE
from ganeti_tx.runtime.daemon_programs import own_program
from ganeti_tx.runtime.paths import Paths

START_LIMIT = 60.0  # seconds


def have_own_file_storage(layout: Layout) -> None:
    """Start the node daemons again, each with a file system of its own in the cluster's directory of files.

    @raise SkipTest: who runs the tests may not have one.
    """
    if os.geteuid() != 0:
        raise SkipTest("a directory of files for each node needs root")
    for node in layout.nodes:
        stop(Paths(node.root), NODE)
        start_in_own(node, layout.root / "shared" / "file")


def start_in_own(node: DevNode, directory: Path) -> None:
    """Start a node's daemon, which sees a directory of its own there."""
    directory.mkdir(exist_ok=True)
    own = file_storage(node)
    words = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" "$1" && exec "$2"', own, directory, own_program(NODE)]
    done = subprocess.run(
        [str(word) for word in words],
        env=node.environment(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=START_LIMIT,
        check=False,
    )
    if done.returncode != 0:
        raise SkipTest(f"{node.name} cannot have a file system of its own: {done.stderr.strip()}")


def file_storage(node: DevNode) -> Path:
    """Where the files of a node are then."""
    return node.root / "srv/ganeti/file-storage"
