"""The files besides configuration that nodes share: the keys, of which each node has the master's copy."""

from collections.abc import Iterator

from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.cluster import UploadFile
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

MAX_KEY_FILE = 1024 * 1024
ON_ALL = ("hmac_key", "cluster_domain_secret", "rapi_pem", "spice_pem", "spice_ca_pem")
#: Without it a new master could add no node.
ON_CANDIDATES = ("authority_key",)


def key_files(files: IFiles, paths: Paths, node: Node) -> Iterator[UploadFile]:
    """What to send to a node; what the master itself does not have is left out. @raise OSError: one cannot be read."""
    for name in (*ON_ALL, *(ON_CANDIDATES if node.master_candidate else ())):
        path = getattr(paths, name)
        if files.exists(path):
            # the node puts it below its own root
            yield UploadFile(path=str(getattr(Paths(), name)), data=files.read(path, MAX_KEY_FILE))
