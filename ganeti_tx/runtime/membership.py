"""A node that is part of no cluster: what its daemons say, and how they end."""

from pathlib import Path

from ganeti_tx.errors import ConfigurationError, ExitCode


class NotInClusterError(ConfigurationError):
    """To start the daemon again is of no use until somebody has added the node."""

    exit_code = ExitCode.NODESETUP_ERROR


def not_in_cluster(missing: Path | str) -> NotInClusterError:
    """The refusal of a daemon that every node of a cluster runs, by the file that each of them has."""
    return NotInClusterError(
        f"this node is not part of a cluster: no {missing}; add it with 'gnt-node add' on the cluster's master"
    )
