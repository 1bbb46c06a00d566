"""The key on a node by which one side of a move is known to the other."""

import time

from attrs import frozen

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.backup.remote.signed_certificate import check_usable
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.transfer_keys import X509CertCreate, X509CertRead, X509CertRemove
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds for which the certificate of a key is good, within which a move must have begun to send.
VALIDITY = 86400


@frozen
class TransferKey:
    """One key. It goes when it has served, however that ended; one that never serves is removed once it has expired."""

    parts: Parts
    node: Node
    name: str

    @classmethod
    async def new(cls, parts: Parts, node: Node, now: float) -> "TransferKey":
        """With a name that no other has."""
        chance = (await parts.config.generate_uuid())[:8]
        return cls(parts, node, f"x509-{time.strftime('%Y-%m-%d_%H_%M_%S', time.gmtime(now))}-{chance}")

    async def create(self, early: bool = False) -> str:
        """Gives the certificate. @param early: see `X509CertCreate`. @raise OpExecError: there is none."""
        try:
            return await self.parts.nodes.call(self.node, X509CertCreate(key=self.name, validity=VALIDITY, early=early))
        except RpcError as error:
            raise OpExecError(f"could not make a key on node {self.node.name}: {error}") from None

    async def check(self, now: float) -> None:
        """@raise OpPrereqError: it is not there, or not good any more."""
        found = await ask(self.parts.nodes, self.node, X509CertRead(key=self.name))
        if found is None:
            raise OpPrereqError(
                f"x509_key_name: there is no key {self.name} on node {self.node.name}; it serves once, and the instance may"
                " have moved since: prepare the export anew",
                ECode.STATE,
            )
        check_usable(found, "x509_key_name", now)

    @property
    def undo(self) -> Undo:
        """What removes it."""
        return on_node(f"remove key {self.name}", self.node, X509CertRemove(key=self.name))

    async def remove(self) -> None:
        """It has served; one that stays does no harm."""
        try:
            await self.parts.nodes.call(self.node, X509CertRemove(key=self.name))
        except RpcError as error:
            self.parts.warn(f"node {self.node.name} keeps key {self.name} until it is cleaned up: {error}")
