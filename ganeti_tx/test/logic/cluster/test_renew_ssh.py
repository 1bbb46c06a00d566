"""OP_CLUSTER_RENEW_CRYPTO where it replaces root's SSH keys."""

import itertools
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from twisted.python.failure import Failure

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node_files import ALIKE
from ganeti_tx.model.opcodes import OpClusterRenewCrypto
from ganeti_tx.model.opcodes.types import SshKeyType
from ganeti_tx.rpc.calls.cluster import ClusterCopies, CopiesState
from ganeti_tx.rpc.calls.keys import SshMakeKey, SshUseKey
from ganeti_tx.rpc.calls.node import NodeCryptoTokens, NodeSshKeys, NodeVerify, SshKeys
from ganeti_tx.test.logic.stage import CONFIG, UnitTestCase
from ganeti_tx.test.model.samples import NODE, NODE2

ROOTS = {f"ssh-root:{node.uuid}": f"ssh-rsa FORMER{node.name[4]}" for node in (NODE, NODE2)}
CERTIFICATES = {f"server:{node.uuid}": "digest" for node in (NODE, NODE2)}
CLUSTER = replace(CONFIG.cluster, modify_ssh_setup=True, candidate_certs={**ROOTS, **CERTIFICATES})
#: Of nodes, in a renewal: each makes a key, uses it, and is asked which it has.
CALLS = 6
OP = OpClusterRenewCrypto(renew_ssh_keys=True)


class RenewSshTests(UnitTestCase):
    """Two nodes whose roots have keys."""

    def setUp(self) -> None:
        super().setUp()
        self.begin(CLUSTER)

    def begin(self, cluster: Cluster) -> None:
        """With a cluster object."""
        self.stage = self.make_stage(replace(CONFIG, cluster=cluster))
        nodes = self.stage.nodes
        files = {file.path: "digest" for file in ALIKE}
        nodes.answer(ClusterCopies, CopiesState(config=1, queue=1, ssconf="d", master="node1", files=files))
        nodes.answer(NodeCryptoTokens, [("ssl", "digest"), ("server", "digest")])
        nodes.answer(NodeVerify, {"ssh-files": []})
        self.begin_again()
        self.own = {node.name: ROOTS[f"ssh-root:{node.uuid}"] for node in (NODE, NODE2)}
        self.coming: dict[str, str] = {}
        self.made: list[SshMakeKey] = []

    def begin_again(self) -> None:
        """As the nodes answer when nothing goes wrong."""
        answers = self.stage.nodes.answers
        answers[SshMakeKey], answers[SshUseKey] = self.make, self.use
        answers[NodeSshKeys] = lambda node, call: SshKeys(host=[], root=self.own[node])

    def make(self, node: str, call: SshMakeKey) -> str:
        """Another one each time."""
        self.made.append(call)
        self.coming[node] = f"ssh-rsa MADE{len(self.made)}"
        return self.coming[node]

    def use(self, node: str, call: SshUseKey) -> None:
        """When all are let in with both."""
        certs = self.stage.snapshot.cluster.candidate_certs
        self.assertEqual(len([key for key in certs if key.startswith("next-ssh-root:")]), 2)
        self.own[node] = self.coming[node]

    def known(self) -> dict[str, str]:
        """What the configuration has of root's keys."""
        certs = self.stage.snapshot.cluster.candidate_certs
        return {key: value for key, value in certs.items() if "ssh-root:" in key}

    def test_replaced(self) -> None:
        """New ones are let in, used, and the former ones forgotten; new nodes get such keys from then on."""
        self.run_op(replace(OP, ssh_key_type=SshKeyType.ECDSA))
        self.assertEqual({(call.root_type, call.root_bits) for call in self.made}, {("ecdsa", 384)})
        self.assertEqual(set(self.known()), set(ROOTS))
        self.assertEqual(set(self.known().values()), set(self.own.values()))
        cluster = self.stage.snapshot.cluster
        self.assertEqual((cluster.ssh_key_type, cluster.ssh_key_bits), ("ecdsa", 384))

    def test_said_again(self) -> None:
        """One node used its new key when the job ended: that one is let in until it has the next."""
        self.stage.nodes.answers[SshUseKey] = self.only_first
        self.refused(OP, OpExecError)
        self.assertEqual(len(self.known()), 4)
        first = self.own[NODE.name]
        self.stage.nodes.answers[SshUseKey] = self.use_with(first)
        self.run_op(OP)
        self.assertEqual(set(self.known()), set(ROOTS))
        self.assertEqual(set(self.known().values()), set(self.own.values()))

    def only_first(self, node: str, call: SshUseKey) -> None:
        """The other one fails."""
        if node != NODE.name:
            raise OpExecError("no")
        self.use(node, call)

    def use_with(self, first: str) -> Callable[[str, SshUseKey], None]:
        """The key that the first node has by now is let in."""

        def use(node: str, call: SshUseKey) -> None:
            if node == NODE.name:
                self.assertIn(first, self.known().values())
            self.use(node, call)

        return use

    def break_off(self, at: int, done: bool) -> None:
        """Have the job end with one of its calls, which was done or was not."""
        count = iter(range(at + 1))

        def breaking(answer: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
            def answered(node: str, call: Any) -> Any:
                last = next(count, None) == at
                told = answer(node, call) if done or not last else None
                if last:
                    raise OpExecError("it ends here")
                return told

            return answered

        answers = self.stage.nodes.answers
        for kind in (SshMakeKey, SshUseKey, NodeSshKeys):
            answers[kind] = breaking(answers[kind])

    def test_broken_off(self) -> None:
        """Wherever it ends, what each root uses is let in; the same command then brings it to its end."""
        ends = 0
        for at, done in itertools.product(range(20), (False, True)):
            self.begin(CLUSTER)
            self.break_off(at, done)
            outcome: list[Any] = []
            self.stage.run(OP).addBoth(outcome.append)
            if isinstance(outcome[0], Failure):
                self.assertIn("it ends here", str(outcome[0].value))
                ends += 1
            self.assertLessEqual(set(self.own.values()), set(self.known().values()), (at, done))
            self.begin_again()
            self.run_op(OP)
            self.assertEqual(set(self.known()), set(ROOTS))
            self.assertEqual(set(self.known().values()), set(self.own.values()), (at, done))
        self.assertEqual(ends, 2 * CALLS)

    def test_refused(self) -> None:
        """A length that there is not, and a cluster that leaves these keys to the administrator."""
        self.assertIn("allowed: 2048 to 16384", self.refused(replace(OP, ssh_key_bits=99), OpPrereqError))
        self.begin(replace(CLUSTER, modify_ssh_setup=False))
        self.assertIn("--no-ssh-init", self.refused(OP, OpPrereqError))
        self.assertEqual(self.made, [])
