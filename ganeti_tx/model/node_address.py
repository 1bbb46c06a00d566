"""What it takes to reach a node."""

import attrs


@attrs.frozen
class NodeAddress:
    """A node known by its address alone."""

    name: str
    primary_ip: str
    offline: bool = False
