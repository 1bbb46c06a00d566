"""Which minors and ports the undos of a job speak of."""

from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.claims import MINOR, PORT, Claim
from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.undo_claims import undo_claims
from ganeti_tx.logic.undos import in_config, on_node
from ganeti_tx.model.disk import DiskPlace
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevRemove

NODE = NodeAddress("node2", "192.0.2.2", False)
VOLUME = DiskSpec(uuid="v", dev_type="plain", size=1, logical_id=["xenvg", "v"])
MIRROR = DiskSpec(
    uuid="d", dev_type="drbd", size=1, logical_id=["uuid2", "uuid3", 11000, 4, 5, "secret"], children=[VOLUME]
)
BOTH = {Claim(MINOR, 4, "uuid2"), Claim(MINOR, 5, "uuid3"), Claim(PORT, 11000)}


class UndoClaimsTests(SynchronousTestCase):
    """As they stand in a job's file."""

    def claims(self, *undos: Undo) -> set[Claim]:
        """Those of undos."""
        return set(undo_claims(msgspec.json.decode(msgspec.json.encode(list(undos)))))

    def test_of_mirrors(self) -> None:
        """A mirror that a node is told of, though its secret is hidden; volumes have nothing of the kind."""
        self.assertEqual(self.claims(on_node("remove", NODE, BlockdevRemove(disk=MIRROR, owner="web1"))), BOTH)
        self.assertEqual(self.claims(on_node("remove", NODE, BlockdevRemove(disk=VOLUME, owner="web1"))), set())

    def test_of_places(self) -> None:
        """A place to which a disk goes back."""
        place = DiskPlace(
            uuid="d", nodes=("uuid2", "uuid3"), minors=(4, 5), size=1, spindles=None, mode="rw", ports=(11000,)
        )
        self.assertEqual(self.claims(in_config("back", IConfig.place_instance, "i", "uuid2", [place])), BOTH)

    def test_of_nobody_knows_what(self) -> None:
        """What another version may have written is passed over."""
        strange: list[Any] = [
            {"dev_type": "holograph", "logical_id": [1]},
            {"dev_type": "drbd", "logical_id": ["uuid2", 1]},
            {"dev_type": ["drbd"], "logical_id": None},
            {"minors": "many", "nodes": 3},
            [None, 1.5, [[{"arguments": {"disk": {}}}]]],
        ]
        self.assertEqual(set(undo_claims(strange)), set())
