"""Calls about the cluster's keys and certificates, which the master's node daemon makes: jobs never have a private key of them."""

from typing import ClassVar

from ganeti_tx.rpc.calls.base import URGENT, NodeCall


class KeysRapi(NodeCall[bool], frozen=True, kw_only=True):
    """Have the Remote API's certificate name the cluster and its address, unless another authority than the cluster's signed it.

    The answer: whether it does now.
    """

    name: ClassVar[str] = "keys_rapi"
    timeout: ClassVar[float] = URGENT
    cluster_name: str
    master_ip: str
