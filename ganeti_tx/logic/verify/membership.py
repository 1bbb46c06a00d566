"""Whether nodes are known by the certificates that they show, and their SSH is as the cluster has it."""

from collections.abc import Iterator

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told, value
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_certificates import expected_callers, expected_servers
from ganeti_tx.model.verify_codes import VerifyCode

CERTIFICATE, SSH = VerifyCode.ECLUSTERCLIENTCERT, VerifyCode.ENODESSH


def token(told: Told, node: Node, kind: str) -> str | None:
    """The digest of one of the certificates that a node has."""
    tokens = value(told.tokens.get(node.name))
    return dict(tokens or ()).get(kind)


def judge_certificate(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of the certificate with which a candidate calls, and of its entry in the cluster's map."""
    shown = token(told, node, "ssl")
    entries = expected_callers(scene.cluster.candidate_certs)
    if shown is None:
        return
    known = [digest for uuid, digest in entries if uuid == node.uuid]
    expected = " or ".join(known) or None
    if node.master_candidate:
        text = (
            f"Client certificate digest of master candidate '{node.name}' does not match its entry in the cluster's map of "
            f"master candidate certificates. Expected: {expected} Got: {shown}; "
            "'gnt-cluster renew-crypto --new-node-certificates' makes new ones"
        )
        yield Verdict(CERTIFICATE, "", text, shown not in known)
    others = sorted({uuid for uuid, digest in entries if digest == shown and uuid != node.uuid})
    names = ", ".join(scene.everything.nodes[uuid].name for uuid in others if uuid in scene.everything.nodes)
    text = f"Node '{node.name}' uses the client certificate of another node: {names}"
    yield Verdict(CERTIFICATE, "", text, bool(others))


def judge_server(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of the certificate by which a node is known when it is called."""
    shown = token(told, node, "server")
    known = expected_servers(scene.cluster.candidate_certs, node.uuid)
    if shown is not None and known:
        text = (
            f"Server certificate digest of node '{node.name}' is not the one that it joined with. "
            f"Expected: {' or '.join(known)} Got: {shown}"
        )
        yield Verdict(CERTIFICATE, "", text, shown not in known)


def judge_ssh(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of its files, and of those whom its root cannot reach."""
    outcome = told.ssh.get(node.name)
    if outcome is None:
        return
    yield Verdict(SSH, node.name, "Could not verify the SSH setup of this node.", outcome.error is not None)
    if outcome.error is not None:
        return
    found = outcome.get()
    for fault in found.get("ssh-files") or ():
        yield Verdict(SSH, node.name, f"{fault}; 'gnt-cluster redist-conf' sends it again")
    for whose in found.get("ssh-strangers") or ():
        text = (
            f"root is let in by a key of {whose} that is no master candidate's; 'gnt-cluster redist-conf' takes it out"
        )
        yield Verdict(SSH, node.name, text, warning=True)
    for peer, reason in sorted((found.get("ssh-reach") or {}).items()):
        yield Verdict(SSH, node.name, f"ssh communication with node '{peer}': {reason}")
    for whose in found.get("ssh-clutter") or ():
        text = f"There is more than one key for {whose} in root's authorized keys"
        yield Verdict(SSH, node.name, text, warning=True)


SUBJECTS = (Subject(judge_certificate), Subject(judge_server), Subject(judge_ssh))
