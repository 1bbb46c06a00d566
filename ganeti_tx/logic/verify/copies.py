"""Whether the nodes have what the master has: the configuration, simple configuration and the job queue."""

from collections.abc import Iterator, Mapping, Sequence

from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.verify.files import file_faults
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.cluster import ClusterCopies, CopiesState
from ganeti_tx.rpc.interfaces import Outcome

#: A finding about one node, or about the cluster: its code, the node's name or none, the text.
Finding = tuple[VerifyCode, str, str]
FILES, SILENT = VerifyCode.ENODEFILECHECK, VerifyCode.ENODERPC
#: What may be on its way.
COMING = (FILES, VerifyCode.ECLUSTERFILECHECK)
#: A node that has just come back gets what it lacks within seconds: what is lacking counts after so many further looks,
#: so many seconds apart.
FURTHER_LOOKS = 10
BETWEEN_LOOKS = 1.0
AGAIN = "'gnt-cluster redist-conf' sends it again"
NO_ANSWER = "Node did not return file checksum data"


async def copy_findings(parts: Parts, members: Sequence[Node], master: Node) -> list[Finding]:
    """Ask some nodes that are not offline, and the master, after they could have got what the master has now."""
    nodes = list({node.uuid: node for node in (*members, master)}.values())
    before = (await parts.nodes.call_many([master], ClusterCopies()))[master.name]
    await parts.config.when_distributed()
    if before.error is not None:
        return [(SILENT, master.name, str(before.error))]
    found = await look(parts, nodes, master, before.get())
    for _ in range(FURTHER_LOOKS):
        if not any(code in COMING and text != NO_ANSWER for code, _, text in found):
            break
        await parts.pause(BETWEEN_LOOKS)
        found = await look(parts, nodes, master, before.get())
    if not any(code is FILES for code, _, _ in found):
        return found
    causes = dict(await parts.config.undistributed())
    return [
        (code, node, f"{text}; the last try: {causes[node]}" if text.endswith(AGAIN) and node in causes else text)
        for code, node, text in found
    ]


async def look(parts: Parts, nodes: list[Node], master: Node, before: CopiesState) -> list[Finding]:
    """What the nodes lack now of what the master had before."""
    told = await parts.nodes.call_many(nodes, ClusterCopies())
    if told[master.name].error is not None:
        return [(SILENT, master.name, str(told[master.name].error))]
    states = {name: outcome.get() for name, outcome in told.items() if outcome.error is None}
    digests = {name: state.files for name, state in states.items() if state.files is not None}
    faults = file_faults(nodes, master.name, digests)
    return [*findings(nodes, master, before, told), *((VerifyCode.ECLUSTERFILECHECK, "", fault) for fault in faults)]


def findings(
    nodes: list[Node], master: Node, before: CopiesState, told: Mapping[str, Outcome[CopiesState]]
) -> Iterator[Finding]:
    """What differs from the master, of what did not change there while the others were asked."""
    steady = before.ssconf == told[master.name].get().ssconf
    for node in nodes:
        outcome = told[node.name]
        if outcome.error is not None:
            yield FILES, node.name, NO_ANSWER
            continue
        state = outcome.get()
        if state.master != master.name:
            yield FILES, node.name, f"takes {state.master or 'nobody'} for the master, not {master.name}; {AGAIN}"
        elif steady and state.ssconf != before.ssconf:
            yield FILES, node.name, f"its simple configuration differs from the master's; {AGAIN}"
        if node.master_candidate:
            yield from of_candidate(node, state, before)
        elif state.config is not None:
            text = "keeps a configuration although it is no master candidate; remove its config.data"
            yield FILES, node.name, text


def of_candidate(node: Node, state: CopiesState, master: CopiesState) -> Iterator[Finding]:
    """What a candidate lacks."""
    if state.config is None or state.config < (master.config or 0):
        has = "no configuration" if state.config is None else f"a configuration with serial number {state.config}"
        yield FILES, node.name, f"has {has}, the master {master.config}; {AGAIN}"
    if (state.queue or 0) < (master.queue or 0):
        has = "no job queue" if state.queue is None else f"a job queue up to job {state.queue}"
        yield FILES, node.name, f"has {has}, the master up to {master.queue}; it is sent again by itself"
