"""The gate of a Remote API without users: only what is open to everybody."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.rapi.caller import ANONYMOUS, Caller, IGate
from ganeti_tx.rapi.http_errors import HttpError

CHALLENGE = {"WWW-Authenticate": 'Basic realm="Ganeti Remote API"'}


@implementer(IGate)
@frozen
class ClosedGate:
    """Knows nobody, so whoever shows credentials, or needs some, is refused.

    @ivar require_authentication: nobody gets in at all.
    """

    require_authentication: bool = False

    async def admit(self, authorization: str | None, peer: str, operation: Any, parts: Mapping[str, str]) -> Caller:
        """As IGate says."""
        if authorization is not None or operation.access or self.require_authentication:
            raise HttpError(HTTPStatus.UNAUTHORIZED, "no users are set up", CHALLENGE)
        return ANONYMOUS
