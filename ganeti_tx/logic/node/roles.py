"""The role of a node as one value: what its three flags say together (design-2.0, Interaction between flags)."""

from collections.abc import Iterable
from enum import Enum

from msgspec.structs import replace

from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpNodeSetParams


class Role(Enum):
    """Each is the flag that is set; the master is a candidate besides."""

    CANDIDATE = "master_candidate"
    DRAINED = "drained"
    OFFLINE = "offline"
    REGULAR = None


FLAGS = tuple(role.value for role in Role if role.value is not None)


def role_of(node: Node) -> Role:
    """What its flags say; offline counts before drained, and that before candidate."""
    return next(
        (role for role in (Role.OFFLINE, Role.DRAINED, Role.CANDIDATE) if getattr(node, role.value)), Role.REGULAR
    )


def with_role(node: Node, role: Role) -> Node:
    """The node with no flag but that of the role."""
    return replace(node, **{flag: flag == role.value for flag in FLAGS})


def asked_role(node: Node, op: OpNodeSetParams) -> Role:
    """The role that an opcode asks for: of the flag that it sets, or none where it takes the present one away."""
    for role in Role:
        if role.value is not None and getattr(op, role.value):
            return role
    present = role_of(node)
    if present.value is not None and getattr(op, present.value) is False:
        return Role.REGULAR
    if present is Role.CANDIDATE and op.master_capable is False:
        return Role.REGULAR
    return present


def may_be_promoted(node: Node) -> bool:
    """Whether a node that is no candidate can become one."""
    return node.master_capable and role_of(node) is Role.REGULAR


def lacking(nodes: Iterable[Node], pool_size: int) -> int:
    """So many candidates more there should be, and could be."""
    held = list(nodes)
    candidates = sum(role_of(node) is Role.CANDIDATE for node in held)
    could = sum(may_be_promoted(node) for node in held)
    return max(0, min(pool_size - candidates, could))
