"""Interfaces of guests that ran before they were kept to their metadata, in a namespace."""

from ganeti_tx.node.hypervisor.nics.confined import confine_those_there
from ganeti_tx.test.real.namespaces import NamespaceCase


class ConfinedTests(NamespaceCase):
    """A node with some interfaces."""

    async def test_there(self) -> None:
        """Those for communication are confined, twice as well, and no others."""
        node = await self.new_namespace("n")
        await node.does("ip link add name gnt.com.1 type veth peer name tap1")
        await node.does("ip tuntap add dev gnt.com.2 mode tap")
        for _ in range(2):
            await confine_those_there(node)
        for name, filters in (("gnt.com.1", 1), ("gnt.com.2", 1), ("tap1", 0)):
            shown = await node.does(f"tc filter show dev {name} ingress")
            self.assertEqual(shown.count("bytecode"), filters, shown)
