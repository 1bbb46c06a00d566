"""As much of a configuration as tells which of two counts, read without the rest."""

import msgspec


class _Cluster(msgspec.Struct, frozen=True):
    uuid: str = ""
    master_node: str = ""


class _Named(msgspec.Struct, frozen=True):
    name: str = ""


class ConfigHead(msgspec.Struct, frozen=True):
    """As much of a configuration as tells how new it is, whose, and who is its master."""

    serial_no: int
    mtime: float = 0.0
    cluster: _Cluster = _Cluster()
    nodes: dict[str, _Named] = {}

    @property
    def master(self) -> str | None:
        """The master's name."""
        node = self.nodes.get(self.cluster.master_node)
        return None if node is None else node.name


def read_head(data: bytes) -> ConfigHead | None:
    """The head of a configuration; None when it cannot be read as one."""
    try:
        return msgspec.json.decode(data, type=ConfigHead)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
        return None
