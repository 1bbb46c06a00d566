"""Where users come from: the seam between the gate and the users file, the tokens and the directory."""

from attrs import frozen
from zope.interface import Interface

from ganeti_tx.rapi.access.authorization import BasicLogin
from ganeti_tx.rapi.access.rights import Rights


@frozen
class Identity:
    """Somebody whose credentials were right."""

    #: Nobody else of any source has it.
    name: str
    rights: Rights


class ISource(Interface):
    """Knows users and their passwords."""

    def knows(name: str) -> bool:
        """Whether a user of that name is to be looked for here and nowhere after."""

    def remembered(login: BasicLogin) -> Identity | None:
        """Who it is, if that can be told at once because it was right a moment ago."""

    async def verify(login: BasicLogin) -> Identity | None:
        """Who it is; None when the password is wrong or there is no such user.

        @raise HttpError: 503, it cannot be told now.
        """
