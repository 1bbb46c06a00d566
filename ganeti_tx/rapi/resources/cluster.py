"""Changes of the cluster as a whole."""

from ganeti_tx.model.opcodes import OpClusterRedistConf, OpClusterSetParams
from ganeti_tx.rapi.submission import Submission, submits

OPERATIONS = (
    submits(
        "PUT",
        "/2/modify",
        "cluster_modify",
        Submission(OpClusterSetParams, forbidden=frozenset({"compression_tools"})),
        "Change settings of the cluster",
    ),
    submits(
        "PUT",
        "/2/redistribute-config",
        "redist_config",
        Submission(OpClusterRedistConf, takes_body=False),
        "Send the configuration to all nodes once more",
    ),
)
