"""Disks as their nodes must know them."""

import msgspec
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.disk_specs import disk_specs, without_secret
from ganeti_tx.model.instance_spec import MirrorEnds
from ganeti_tx.test.model.samples import CLUSTER, CONFIG, DISK, GROUP, VOLUME


class EndsTests(SynchronousTestCase):
    """A mirror between two nodes, whose addresses for replication are of their own."""

    def setUp(self) -> None:
        addresses = zip(CONFIG.nodes.values(), ("198.51.100.1", "198.51.100.2"), strict=True)
        self.nodes = {node.uuid: replace(node, secondary_ip=address) for node, address in addresses}
        self.first, self.second = self.nodes.values()

    def test_each_end(self) -> None:
        """Each node is told its own address and minor, and the other's, and the port of both."""
        (here,) = disk_specs([DISK], CLUSTER, GROUP, self.first, self.nodes)
        (there,) = disk_specs([DISK], CLUSTER, GROUP, self.second, self.nodes)
        ends = MirrorEnds(
            local_address="198.51.100.1", local_minor=0, peer_address="198.51.100.2", peer_minor=1, port=11000
        )
        self.assertEqual(here.ends, ends)
        turned = MirrorEnds(
            local_address="198.51.100.2", local_minor=1, peer_address="198.51.100.1", peer_minor=0, port=11000
        )
        self.assertEqual(there, replace(here, ends=turned))
        self.assertEqual([child.ends for child in here.children], [None, None])

    def test_no_end(self) -> None:
        """A node that the mirror is not on has no end of it; disks that are not mirrored have none anywhere."""
        third = replace(self.first, uuid="node3-uuid")
        (mirror,) = disk_specs([DISK], CLUSTER, GROUP, third, self.nodes)
        (volume,) = disk_specs([VOLUME], CLUSTER, GROUP, self.first, self.nodes)
        self.assertEqual((mirror.ends, volume.ends), (None, None))

    def test_without_secret(self) -> None:
        """What may be kept in a file has no secret, at no level, and is otherwise the same."""
        (spec,) = disk_specs([DISK], CLUSTER, GROUP, self.first, self.nodes)
        hidden = without_secret(replace(spec, children=[spec]))
        self.assertNotIn(b"s3cret", msgspec.json.encode(hidden))
        self.assertEqual((hidden.uuid, hidden.ends), (spec.uuid, spec.ends))
        self.assertIn(b"s3cret", msgspec.json.encode(spec))
        self.assertNotIn("s3cret", repr(spec))
