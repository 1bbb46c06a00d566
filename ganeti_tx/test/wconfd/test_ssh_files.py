"""Known hosts and authorized keys on their way to the nodes."""

from typing import Any

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.enums import TagKind
from ganeti_tx.rpc.calls.cluster import WriteSshFiles
from ganeti_tx.test.config.stores import CONFIG
from ganeti_tx.test.model.samples import NODE, NODE2
from ganeti_tx.test.wconfd.protocol.loopback import Cluster

FACTS = {f"ssh-{kind}:{node.uuid}": "ssh-rsa AAAA" for kind in ("host", "root") for node in (NODE, NODE2)}
KNOWN = replace(CONFIG, cluster=replace(CONFIG.cluster, candidate_certs=FACTS, modify_ssh_setup=True))


class SshFilesTests(SynchronousTestCase):
    """The master and another candidate."""

    def setUp(self) -> None:
        self.cluster = Cluster(KNOWN)
        self.wconfd = self.cluster.start()
        self.config = self.wconfd.config(self.cluster.job(1))
        self.cluster.settle()

    def sent(self) -> list[tuple[str, Any]]:
        """To whom which files went since the last look."""
        calls, self.cluster.rpc.calls = self.cluster.rpc.calls, []
        return [(name, call) for name, call in calls if isinstance(call, WriteSshFiles)]

    def test_all_nodes(self) -> None:
        """They go to every node, the master's own included, and again only when they change."""
        sent = self.sent()
        self.assertEqual(sorted(name for name, _call in sent), [NODE.name, NODE2.name])
        for _name, call in sent:
            self.assertEqual(set(call.authorized), {NODE.name, NODE2.name})
        self.successResultOf(self.cluster.begin(self.config.change_tags(TagKind.CLUSTER, None, ["new"], [])))
        self.assertEqual(self.sent(), [])
        self.successResultOf(self.cluster.begin(self.config.change_nodes([], {f"ssh-host:{NODE2.uuid}": "ssh-rsa BB"})))
        changed = self.sent()
        self.assertEqual(len(changed), 2)
        self.assertIn("ssh-rsa BB", changed[0][1].known_hosts)

    def test_demoted(self) -> None:
        """A node that is no candidate any more is let in nowhere."""
        self.sent()
        held = self.wconfd.store.snapshot.nodes[NODE2.uuid]
        self.successResultOf(self.cluster.begin(self.config.change_nodes([replace(held, master_candidate=False)], {})))
        self.assertEqual([set(call.authorized) for _name, call in self.sent()], [{NODE.name}] * 2)
