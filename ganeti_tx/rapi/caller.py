"""Who makes a request, and who lets him in."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen
from zope.interface import Interface

from ganeti_tx.model.scope import Scope


@frozen
class Caller:
    """Somebody whose credentials were right, or nobody in particular."""

    #: For logs and messages; None for who sent no credentials.
    name: str | None = None
    #: Where there are some, only what is in one of them may be seen and done.
    scopes: frozenset[Scope] = frozenset()


ANONYMOUS = Caller()


class IGate(Interface):
    """Decides who may do what."""

    async def admit(
        authorization: str | None,
        peer: str,
        operation: Any,
        parts: Mapping[str, str],
    ) -> Caller:
        """Check credentials and permission for one request.

        @param authorization: the header of that name.
        @param peer: the address that the request comes from.
        @param operation: the `Operation` asked for.
        @param parts: the named parts of its path.
        @raise HttpError: 401 with WWW-Authenticate (bad or missing credentials), 403 (not allowed), 429 with
            Retry-After (too many failures), 503 (nobody can tell now whether the credentials are right).
        """
