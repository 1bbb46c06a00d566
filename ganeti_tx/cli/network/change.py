"""gnt-network add, modify, rename and remove."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.options import DRY_RUN, FORCE, PRIORITY, SUBMITTING, Argument, Command, Option, negative
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.values import parse_list
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

#: Options that the opcodes take as they are typed.
_PLAIN = ("gateway", "network6", "gateway6", "mac_prefix")
_LISTS = ("add_reserved_ips", "remove_reserved_ips")

ONE_NETWORK = (Argument("network", 1, 1),)


def add(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Make one network."""
    if options.network is None:
        raise OpPrereqError("The --network option must be given", ECode.INVAL)
    more = {
        "network": options.network,
        "conflicts_check": unless(True, options.conflicts_check),
        "tags": parse_list(options.tags or "") or None,
    }
    run_opcode(session, options, opcode("OP_NETWORK_ADD", network_name=names[0], **_settings(options), **more))
    return ExitCode.SUCCESS


def modify(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Change one network."""
    settings = _settings(options)
    if not settings:
        session.warn("Please give at least one of the parameters.")
        return ExitCode.FAILURE
    run_opcode(session, options, opcode("OP_NETWORK_SET_PARAMS", network_name=names[0], **settings))
    return ExitCode.SUCCESS


def remove(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Remove one network."""
    force = unless(False, options.force)
    run_opcode(session, options, opcode("OP_NETWORK_REMOVE", network_name=names[0], force=force))
    return ExitCode.SUCCESS


def rename(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Give one network another name."""
    run_opcode(session, options, opcode("OP_NETWORK_RENAME", network_name=names[0], new_name=names[1]))
    return ExitCode.SUCCESS


def _settings(options: Parsed) -> dict[str, Any]:
    """What was given."""
    given = vars(options)
    plain = {name: given[name] for name in _PLAIN}
    lists = {name: parse_list(given[name]) for name in _LISTS if given.get(name) is not None}
    return {name: value for name, value in {**plain, **lists}.items() if value is not None}


def _text(flags: str, dest: str, help: str, metavar: str | None = None) -> Option:
    return Option(tuple(flags.split()), dest, help, "string", metavar=metavar)


NO_CONFLICTS_CHECK = negative("--no-conflicts-check", "conflicts_check", "do not look who else has addresses of it")
_GATEWAY = _text("--gateway", "gateway", "the IPv4 gateway, one of its addresses")
_RESERVE = _text("--add-reserved-ips", "add_reserved_ips", "addresses that no instance shall get, comma separated")
_SETTINGS = (
    _text("-m --mac-prefix", "mac_prefix", "first half of the MAC addresses in it", "PREFIX"),
    _text("--network6", "network6", "an IPv6 range, such as 2001:db8::/64"),
    _text("--gateway6", "gateway6", "the IPv6 gateway"),
)

ADD = Command(
    add,
    ONE_NETWORK,
    (
        DRY_RUN,
        _text("--network", "network", "the IPv4 range, such as 192.0.2.0/24"),
        _GATEWAY,
        _RESERVE,
        *_SETTINGS,
        NO_CONFLICTS_CHECK,
        _text("--tags", "tags", "tags of the network, comma separated"),
        PRIORITY,
        *SUBMITTING,
    ),
)
MODIFY = Command(
    modify,
    ONE_NETWORK,
    (
        DRY_RUN,
        *SUBMITTING,
        _RESERVE,
        _text("--remove-reserved-ips", "remove_reserved_ips", "addresses that instances may get again"),
        _GATEWAY,
        *_SETTINGS,
        PRIORITY,
    ),
)
REMOVE = Command(remove, ONE_NETWORK, (FORCE, DRY_RUN, *SUBMITTING, PRIORITY))
RENAME = Command(rename, (*ONE_NETWORK, Argument("name", 1, 1)), (DRY_RUN, *SUBMITTING, PRIORITY))
