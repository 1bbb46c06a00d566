"""gnt-network connect and disconnect."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.network.change import NO_CONFLICTS_CHECK
from ganeti_tx.cli.options import PRIORITY, Argument, Command, Option
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode
from ganeti_tx.model.params.kinds import DEFAULT
from ganeti_tx.model.params.nic import NicParams

_NETWORK_AND_GROUPS = (Argument("network", 1, 1), Argument("group"))


def connect(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Connect groups, one after the other; what is not said of the link is as the cluster has it."""
    params = nic_parameters(session, options.nicparams)
    for group in _groups(session, names):
        op = opcode(
            "OP_NETWORK_CONNECT",
            network_name=names[0],
            group_name=group,
            **{f"network_{name}": value for name, value in params.items()},
            conflicts_check=unless(True, options.conflicts_check),
        )
        run_opcode(session, options, op)
    return ExitCode.SUCCESS


def disconnect(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Disconnect groups, one after the other."""
    for group in _groups(session, names):
        run_opcode(session, options, opcode("OP_NETWORK_DISCONNECT", network_name=names[0], group_name=group))
    return ExitCode.SUCCESS


def nic_parameters(session: Session, given: Mapping[str, Any]) -> dict[str, Any]:
    """Mode, link and vlan. @raise UsageError: another parameter is given, or one without a value."""
    known = NicParams.__struct_fields__
    for name, value in given.items():
        if name not in known:
            raise UsageError(f"unknown NIC parameter {name!r}; known are {', '.join(sorted(known))}")
        if not isinstance(value, str):
            raise UsageError(f"NIC parameter {name!r} needs a value: {name}=VALUE")
    usual = session.client.query_cluster_info()["nicparams"]["default"]
    return {name: given[name] if given.get(name, DEFAULT) != DEFAULT else usual[name] for name in known}


def _groups(session: Session, names: Sequence[str]) -> list[str]:
    """Those named; all without names."""
    if len(names) > 1:
        return list(names[1:])
    return [name for [(_status, name)] in session.client.query("group", ["name"], None)["data"]]


CONNECT = Command(
    connect,
    _NETWORK_AND_GROUPS,
    (
        NO_CONFLICTS_CHECK,
        PRIORITY,
        Option(("-N", "--nic-parameters"), "nicparams", "how nodes reach it: mode, link and vlan", "keyval", {}),
    ),
)
DISCONNECT = Command(disconnect, _NETWORK_AND_GROUPS, (PRIORITY,))
