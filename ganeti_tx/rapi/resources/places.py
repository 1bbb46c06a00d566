"""The paths of single objects, and the opcode parameters that they name."""

from ganeti_tx.rapi.operations.submission import from_path

INSTANCE_PATH = "/2/instances/{instance_name}"
INSTANCE = from_path("instance_name")
NODE_PATH = "/2/nodes/{node_name}"
NODE = from_path("node_name")
GROUP_PATH = "/2/groups/{group_name}"
GROUP = from_path("group_name")
NETWORK_PATH = "/2/networks/{network_name}"
NETWORK = from_path("network_name")
