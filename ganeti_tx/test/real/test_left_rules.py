"""Rules that have outlived interfaces by which instances talked to their node, in a namespace."""

from ganeti_tx.node.hypervisor.nics.left_rules import remove_left_rules
from ganeti_tx.node.hypervisor.nics.node_ends import NodeEnds
from ganeti_tx.node.hypervisor.nics.scripts import NoScripts
from ganeti_tx.test.real.namespaces import NamespaceCase
from ganeti_tx.test.real.test_routed_nics import end_of


class LeftRulesTests(NamespaceCase):
    """A node some of whose interfaces have gone."""

    async def test_removed(self) -> None:
        """Those whose interface is gone are removed; those of interfaces that are there, and others' ones, stay."""
        node = await self.new_namespace("n")
        for name in ("gnt.com.1", "gnt.com.2", "tap1"):
            await node.does(f"ip link add name {name} type veth")
        for number in (1, 2):
            await NodeEnds(node, NoScripts()).connect(end_of(number))
        await node.does("ip rule add iif tap1 prohibit")
        for name in ("gnt.com.1", "tap1"):
            await node.does(f"ip link del {name}")
        for _ in range(2):
            await remove_left_rules(node)
        shown = await node.does("ip rule show")
        self.assertEqual([f" {name} " in shown for name in ("gnt.com.1", "gnt.com.2", "tap1")], [False, True, True])
