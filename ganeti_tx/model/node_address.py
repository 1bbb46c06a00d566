"""What it takes to reach a node."""

import attrs

#: Where node daemons listen.
NODE_PORT = 1811


@attrs.frozen
class NodeAddress:
    """A node known by its address alone."""

    name: str
    primary_ip: str
    offline: bool = False
