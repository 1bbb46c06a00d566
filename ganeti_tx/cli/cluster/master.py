"""gnt-cluster master-failover and master-ping, and taking the cluster's address and giving it up by hand."""

from collections.abc import Sequence

from ganeti_tx.cli.bootstrap import run_bootstrap
from ganeti_tx.cli.options import Command, Option, switch
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.cli.values import InvalidValue, parse_bool
from ganeti_tx.errors import ExitCode, GanetiError

NO_VOTING = (
    "Without voting this node becomes the master even if another one is, or if others have newer data, which are lost "
    "then.\nContinue?"
)
WITHOUT_ADDRESS = (
    "This will disable the master IP. All the open connections to the master IP will be closed. To reach the master you"
    " will need to use its node IP. Continue?"
)


def master_failover(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Make this node the master."""
    if options.no_voting and not options.yes_do_it:
        confirm(session, NO_VOTING, "--yes-do-it")
    document = {"no_voting": options.no_voting, "ignore_offline_nodes": _yes_no(options.ignore_offline_nodes)}
    return run_bootstrap(session, "master-failover", document)


def _yes_no(given: str | bool) -> bool:
    """@raise UsageError: neither yes nor no."""
    try:
        return given if isinstance(given, bool) else parse_bool(given)
    except InvalidValue as error:
        raise UsageError(f"option --ignore-offline-nodes: {error}") from None


def master_ping(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Whether the master daemon answers; status 1 when it does not, without a word."""
    try:
        session.client.query_cluster_info()
    except (GanetiError, OSError):
        return ExitCode.FAILURE
    return ExitCode.SUCCESS


def activate(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Have the master take the cluster's address."""
    run_opcode(session, options, opcode("OP_CLUSTER_ACTIVATE_MASTER_IP"))
    return ExitCode.SUCCESS


def deactivate(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Have the master give up the cluster's address."""
    if not options.confirm:
        confirm(session, WITHOUT_ADDRESS, "--yes")
    run_opcode(session, options, opcode("OP_CLUSTER_DEACTIVATE_MASTER_IP"))
    return ExitCode.SUCCESS


FAILOVER = Command(
    master_failover,
    (),
    (
        switch("--no-voting", "no_voting", "do not ask the other nodes; needs --yes-do-it"),
        switch("--yes-do-it", "yes_do_it", "really do it"),
        Option(
            ("--ignore-offline-nodes",), "ignore_offline_nodes", "nodes marked offline do not vote (they never do)",
            "string", True, metavar="yes|no", bare="yes",
        ),
    ),
)  # fmt: skip
PING = Command(master_ping)
ACTIVATE = Command(activate)
DEACTIVATE = Command(deactivate, (), (switch("--yes", "confirm", "ask no questions"),))
