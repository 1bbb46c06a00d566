"""Whether data may travel packed as somebody wants."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.compression import is_allowed


def check_compression(tool: str, cluster: Cluster) -> None:
    """@raise OpPrereqError: not by this tool."""
    if not is_allowed(tool, cluster.compression_tools):
        allowed = ", ".join(("none", *cluster.compression_tools))
        raise OpPrereqError(f"not a compression tool: {tool!r}; allowed are {allowed}", ECode.INVAL)
