"""Which volumes were removed from this node, for providers whose scripts fail where there is nothing to remove."""

from attrs import define, field

from ganeti_tx.node.storage.ext.volume import Volume

#: So many are remembered; a removal is repeated soon, or by hand.
LIMIT = 1000


@define
class RemovedVolumes:
    """The last ones, as long as the daemon runs; what was made or attached since is none of them."""

    _keys: dict[str, None] = field(factory=dict, init=False)

    def add(self, volume: Volume) -> None:
        """The provider has said that it is removed."""
        self._keys[volume.key] = None
        if len(self._keys) > LIMIT:
            del self._keys[next(iter(self._keys))]

    def forget(self, volume: Volume) -> None:
        """It is there, or may be."""
        self._keys.pop(volume.key, None)

    def __contains__(self, volume: Volume) -> bool:
        return volume.key in self._keys
