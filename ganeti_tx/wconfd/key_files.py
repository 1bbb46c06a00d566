"""The files besides configuration that nodes share: the keys, of which each node has the master's copy."""

from collections.abc import Iterator

from ganeti_tx.model.node import Node
from ganeti_tx.model.node_files import ALIKE
from ganeti_tx.rpc.calls.cluster import UploadFile
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

MAX_KEY_FILE = 1024 * 1024


def key_files(files: IFiles, paths: Paths, node: Node) -> Iterator[UploadFile]:
    """What to send to a node; what the master itself does not have is left out. @raise OSError: one cannot be read."""
    for file in ALIKE:
        if file.is_for(candidate=node.master_candidate) and files.exists(paths.of(file)):
            # the node puts it below its own root
            yield UploadFile(path=file.path, data=files.read(paths.of(file), MAX_KEY_FILE))
