"""gnt-cluster epo: nodes are switched off in an emergency, with what runs there stopped before, and brought back."""

from collections.abc import Sequence

from ganeti_tx.cli.cluster.epo_nodes import EpoNode, read_nodes
from ganeti_tx.cli.cluster.epo_off import switch_off
from ganeti_tx.cli.cluster.epo_on import bring_back
from ganeti_tx.cli.node.naming import full_name, of_group
from ganeti_tx.cli.node.power import OOB_TIMEOUT, POWER_DELAY
from ganeti_tx.cli.options import FORCE, MANY_WORDS, SHUTDOWN_TIMEOUT, Command, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm_many
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

#: Seconds.
LONGEST_DELAY = 3600
NO_PROGRAM = "Node {} does not support out-of-band handling, it can not be handled in a fully automated manner"
MASTER_CHOSEN = (
    "{} is the master node, please do a master-failover to another node not affected by the EPO or use --all if you "
    "intend to shutdown the whole cluster"
)


def epo(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Switch the nodes off or bring them back; failure when something is left that somebody has to do by hand."""
    nodes = chosen(session, options, words)
    master = next((node for node in nodes if node.is_master), None)
    if master is not None and not (options.show_all or options.on):
        session.warn(MASTER_CHOSEN.format(master.name))
        return ExitCode.FAILURE
    by_hand = [node for node in nodes if not node.has_program and not node.is_master]
    for node in by_hand:
        session.print(NO_PROGRAM.format(node.name))
    if not options.force:
        verb = "power-on" if options.on else "emergency power-off"
        confirm_many(session, [node.name for node in nodes], "nodes", verb, "--force")
    went_well = (bring_back if options.on else switch_off)(session, options, nodes)
    return ExitCode.SUCCESS if went_well and not by_hand else ExitCode.FAILURE


def chosen(session: Session, options: Parsed, words: Sequence[str]) -> list[EpoNode]:
    """The nodes, all of the cluster without names.

    @raise OpPrereqError: options that exclude each other, or what is named is not there.
    """
    if options.groups and options.show_all:
        raise OpPrereqError("Only one of --groups or --all are allowed", ECode.INVAL)
    if options.show_all and words:
        raise OpPrereqError(f"--all takes no names, got {words[0]!r}", ECode.INVAL)
    if options.groups and not words:
        raise OpPrereqError("--groups wants the names of node groups", ECode.INVAL)
    if not 0 <= options.power_delay <= LONGEST_DELAY:
        raise OpPrereqError(f"--power-delay is {options.power_delay}; allowed are 0 to {LONGEST_DELAY}", ECode.INVAL)
    nodes = {node.name: node for node in read_nodes(session)}
    if options.groups:
        names = [name for word in words for name in of_group(session, word)[1]]
        if not names:
            raise OpPrereqError(f"there are no nodes in {', '.join(words)}", ECode.STATE)
    else:
        names = [full_name(word, nodes) for word in words] or list(nodes)
    return [nodes[name] for name in dict.fromkeys(names)]


EPO = Command(
    epo,
    MANY_WORDS,
    (
        FORCE,
        switch("--on", "on", "bring the nodes back, and start the instances that should run"),
        switch("--groups", "groups", "the names are those of node groups"),
        switch("--all", "show_all", "the whole cluster, also the master's instances"),
        OOB_TIMEOUT,
        SHUTDOWN_TIMEOUT,
        POWER_DELAY,
    ),
)
