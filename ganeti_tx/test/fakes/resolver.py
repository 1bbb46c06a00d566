"""Host names that a test knows."""

import ipaddress
import socket
from collections.abc import Mapping

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.errors import ResolverError
from ganeti_tx.runtime.resolver import IResolver


@implementer(IResolver)
@frozen
class FakeResolver:
    """Knows the hosts of a table: full name and address by any lower-case name."""

    hosts: Mapping[str, tuple[str, str]]

    async def resolve(self, name: str) -> tuple[str, str]:
        """See `IResolver`."""
        try:
            return name, str(ipaddress.ip_address(name))
        except ValueError:
            pass
        if name.lower() not in self.hosts:
            raise ResolverError(name, int(socket.EAI_NONAME), "Name or service not known")
        return self.hosts[name.lower()]
