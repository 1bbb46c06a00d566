"""Ports of two clusters, whatever they are: nobody has one twice, and what runs keeps its own."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.claims import PORT, all_claims
from ganeti_tx.config.merging.choices import Choices, SameGroup
from ganeti_tx.config.merging.ports import fixed_ports, is_active, port_obstacles
from ganeti_tx.config.merging.united import united
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import AdminState
from ganeti_tx.test.config.merging.clusters import OURS, other_cluster

#: Those of the other cluster's displays, each with whether it is in use.
PORTS = st.dictionaries(st.integers(10999, 11012), st.booleans(), max_size=6)
OWN = st.sets(st.integers(11001, 11012), max_size=4)


def with_displays(config: ConfigData, ports: dict[int, bool]) -> ConfigData:
    """The cluster with an instance for each port; that with a disk is down."""
    [sample] = config.instances.values()
    down = replace(sample, admin_state=AdminState.DOWN, disks_active=False)
    made = {sample.uuid: down}
    for port, runs in ports.items():
        state = AdminState.UP if runs else AdminState.DOWN
        uuid = f"{sample.uuid}-{port}"
        made[uuid] = replace(
            down, uuid=uuid, name=f"{port}.{sample.name}", network_port=port, admin_state=state, disks=(), nics=()
        )
    return replace(config, instances=made)


class PortTests(SynchronousTestCase):
    """Over many clusters."""

    @settings(max_examples=60, deadline=None)
    @given(own=OWN, other=PORTS)
    def test_once(self, own: set[int], other: dict[int, bool]) -> None:
        """Each has its own; the pool has what nobody has; what cannot be is an obstacle."""
        highest = max({11000, *own})
        pool = tuple(port for port in range(11001, highest) if port not in own)
        ours = with_displays(OURS, dict.fromkeys(own, True))
        ours = replace(ours, cluster=replace(ours.cluster, highest_used_port=highest, tcpudp_port_pool=pool))
        theirs = with_displays(other_cluster(), {port: runs for port, runs in other.items() if port != 11000})
        if fixed_ports(theirs).keys() & {11000, *own}:
            self.assertNotEqual(port_obstacles(ours, theirs), [])
            return
        self.assertEqual(port_obstacles(ours, theirs), [])
        after = united(ours, theirs, Choices(groups=SameGroup.MERGE), 1.0)
        ports = [claim.value for _, claims in all_claims(after) for claim in claims if claim.kind == PORT]
        self.assertEqual(len(ports), len(set(ports)))
        for uuid, instance in theirs.instances.items():
            if is_active(instance):
                self.assertEqual(after.instances[uuid].network_port, instance.network_port)
        given_out = set(range(11000, after.cluster.highest_used_port + 1))
        self.assertEqual(set(after.cluster.tcpudp_port_pool), given_out - {int(port) for port in ports})
