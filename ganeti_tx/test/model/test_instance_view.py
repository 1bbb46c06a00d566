"""An instance with what belongs to it: narrowed to what it touches, and many without saying anything twice."""

import msgspec
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, InstanceViews, together, view_of
from ganeti_tx.test.model.samples import CONFIG, DISK, GROUP, INSTANCE, NETWORK, NIC, NODE, NODE2

FAR = replace(NODE, uuid="node3-uuid", name="node3.example.com", group="far-uuid")
FAR_GROUP = replace(GROUP, uuid="far-uuid", name="far", networks={})
WIRE = replace(NIC, uuid="nic2-uuid", network=NETWORK.uuid, nicparams={"link": "br1"})
WIRED = replace(INSTANCE, uuid="wired-uuid", name="wired", disks=(), nics=(WIRE,))
WIRED_GROUP = replace(GROUP, networks={NETWORK.uuid: {"mode": "bridged", "link": "br9"}})
WHOLE = replace(
    CONFIG,
    nodes={**CONFIG.nodes, FAR.uuid: FAR},
    nodegroups={WIRED_GROUP.uuid: WIRED_GROUP, FAR_GROUP.uuid: FAR_GROUP},
    instances={INSTANCE.uuid: INSTANCE, WIRED.uuid: WIRED},
)


def seen(instance: Instance, config: ConfigData = WHOLE) -> InstanceView:
    """The view of an instance in a configuration."""
    return view_of(
        instance,
        cluster=config.cluster,
        disks=config.disks,
        nodes=config.nodes,
        groups=config.nodegroups,
        networks=config.networks,
    )


class ViewTests(SynchronousTestCase):
    """One instance."""

    def test_narrow(self) -> None:
        """It holds what the instance touches, and nothing else of the cluster."""
        view = seen(INSTANCE)
        self.assertEqual((view.primary, view.secondaries, view.group), (NODE, [NODE2], WIRED_GROUP))
        self.assertEqual((view.disks, view.disk_template), ((DISK,), DiskTemplate.DRBD))
        self.assertEqual((set(view.nodes), set(view.groups), dict(view.networks)), (set(DISK.nodes), {GROUP.uuid}, {}))

    def test_network(self) -> None:
        """What a network sets for the group counts above the interface's own; without disks it is diskless."""
        view = seen(WIRED)
        [nic] = view.instance.nics
        self.assertEqual(view.networks, {NETWORK.uuid: NETWORK})
        self.assertEqual(view.nic_spec(nic).link, "br9")
        self.assertEqual(view.disk_template, DiskTemplate.DISKLESS)

    def test_groups(self) -> None:
        """The group of a secondary node in another group is there, too."""
        moved = replace(WHOLE, nodes={**WHOLE.nodes, NODE2.uuid: replace(NODE2, group=FAR_GROUP.uuid)})
        self.assertEqual(seen(INSTANCE, moved).groups, {GROUP.uuid: WIRED_GROUP, FAR_GROUP.uuid: FAR_GROUP})

    def test_lacking(self) -> None:
        """What an instance names and nobody has is an error that says so."""
        for lacking, what in (
            (replace(WHOLE, disks={}), f"its disk {DISK.uuid}"),
            (replace(WHOLE, nodes={NODE.uuid: NODE}), f"its node {NODE2.uuid}"),
            (replace(WHOLE, nodegroups={}), f"its node group {GROUP.uuid}"),
        ):
            error = self.assertRaises(ConfigurationError, seen, INSTANCE, lacking)
            self.assertEqual(str(error), f"instance {INSTANCE.name}: {what} is not in the configuration")


class ManyTests(SynchronousTestCase):
    """Several instances."""

    def test_each(self) -> None:
        """Put together and taken apart again they are as they were, also after they have travelled."""
        views = [seen(WIRED), seen(INSTANCE)]
        both = together(WHOLE.cluster, views)
        self.assertEqual(both.each(), views)
        self.assertEqual(msgspec.convert(msgspec.to_builtins(both), InstanceViews).each(), views)

    def test_shared(self) -> None:
        """A node that two instances have stands there once."""
        both = msgspec.json.encode(together(WHOLE.cluster, [seen(WIRED), seen(INSTANCE)])).decode()
        self.assertEqual(both.count(NODE.name), 1)
