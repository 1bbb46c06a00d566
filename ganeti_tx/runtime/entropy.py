"""Chance, behind an interface, so that a test can repeat it."""

import os
from uuid import UUID

from attrs import frozen
from zope.interface import Interface, implementer


class IEntropy(Interface):
    """Where what nobody can guess comes from."""

    def uuid() -> str:
        """A new UUID (version 4) in its usual text form."""

    def random_bytes(count: int) -> bytes:
        """So many bytes, good enough for keys."""


@implementer(IEntropy)
@frozen
class SystemEntropy:
    """The kernel's."""

    def uuid(self) -> str:
        """See `IEntropy`."""
        return str(UUID(bytes=self.random_bytes(16), version=4))

    def random_bytes(self, count: int) -> bytes:
        """See `IEntropy`."""
        return os.urandom(count)
