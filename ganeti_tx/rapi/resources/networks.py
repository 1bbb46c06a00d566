"""Networks."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.model.opcodes import (
    OpNetworkAdd,
    OpNetworkConnect,
    OpNetworkDisconnect,
    OpNetworkRemove,
    OpNetworkRename,
    OpNetworkSetParams,
)
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.operation import Call
from ganeti_tx.rapi.operations.rows import Noun
from ganeti_tx.rapi.operations.submission import DRY_RUN, Params, Submission, submits
from ganeti_tx.rapi.resources import fields
from ganeti_tx.rapi.resources.places import NETWORK, NETWORK_PATH


async def ask(call: Call, names: Sequence[str], wanted: Sequence[str]) -> list[Any]:
    """As `rows.Ask` says."""
    return await call.luxi.query_networks(names, wanted)


def without_null_tags(call: Call, body: Params) -> Params:
    """The body; clients send null where they have no tags."""
    return {name: value for name, value in body.items() if name != "tags" or value is not None}


NETWORKS = Noun("networks", "network", ask, fields.NETWORK, part="network_name")

OPERATIONS = (
    NETWORKS.listing(),
    NETWORKS.showing(arguments.LOCK),
    submits(
        "POST",
        "/2/networks",
        "networks",
        Submission(OpNetworkAdd, (DRY_RUN,), renames={"name": "network_name"}, prepare=without_null_tags),
        "Make a network with a pool of addresses",
    ),
    submits(
        "DELETE",
        NETWORK_PATH,
        "networks_name",
        Submission(OpNetworkRemove, (NETWORK, DRY_RUN)),
        "Remove a network that no group is connected to",
    ),
    submits(
        "PUT",
        f"{NETWORK_PATH}/modify",
        "networks_name_modify",
        Submission(OpNetworkSetParams, (NETWORK,)),
        "Change a network",
    ),
    submits(
        "PUT",
        f"{NETWORK_PATH}/rename",
        "networks_name_rename",
        Submission(OpNetworkRename, (NETWORK, DRY_RUN)),
        "Give a network another name",
    ),
    submits(
        "PUT",
        f"{NETWORK_PATH}/connect",
        "networks_name_connect",
        Submission(OpNetworkConnect, (NETWORK, DRY_RUN)),
        "Connect a group to a network",
    ),
    submits(
        "PUT",
        f"{NETWORK_PATH}/disconnect",
        "networks_name_disconnect",
        Submission(OpNetworkDisconnect, (NETWORK, DRY_RUN)),
        "Disconnect a group from a network",
    ),
)
