"""What a logical unit declares of its hooks: their name, the kind of its object, and the nodes they run on."""

from collections.abc import Mapping, Sequence
from enum import Flag, auto

import attrs

from ganeti_tx.model.hooks import HookObject, HookResult
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.interfaces import Outcome

#: Each node, what its scripts gave or why there is nothing.
HookAnswers = Sequence[tuple[Node, Outcome[list[HookResult]]]]


class HookNodes(Flag):
    """Some nodes of a cluster, as seen from the object that the unit is about. Those that are offline are always left out."""

    NONE = 0
    #: The master.
    MASTER = auto()
    #: The nodes of the object: an instance's own ones; the node itself.
    OBJECT = auto()
    #: All nodes but those of the object.
    OTHERS = auto()


@attrs.frozen
class Hook:
    """Scripts of `path`-pre.d run on the nodes of `pre` before the unit's work, those of `path`-post.d on `post` after it.

    @ivar asked: what scripts are told of the request: names of variables, and the opcode's parameters that they show.
    """

    path: str
    about: HookObject
    pre: HookNodes = HookNodes.MASTER | HookNodes.OBJECT
    post: HookNodes = HookNodes.MASTER | HookNodes.OBJECT
    asked: Mapping[str, str] = attrs.field(factory=dict, kw_only=True)
