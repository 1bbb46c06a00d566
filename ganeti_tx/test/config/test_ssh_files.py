"""What nodes' SSH is told."""

from typing import Any

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.ssh_files import ssh_setup
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.ssh_setup import SshSetup
from ganeti_tx.test.config.stores import CONFIG
from ganeti_tx.test.model.samples import NODE, NODE2

FACTS = {
    NODE.uuid: "ab12",
    f"ssh-host:{NODE.uuid}": "ssh-rsa AAAA\nssh-ed25519 BBBB",
    f"ssh-host:{NODE2.uuid}": "ssh-rsa CCCC",
    f"ssh-root:{NODE.uuid}": "ssh-rsa DDDD",
    f"ssh-root:{NODE2.uuid}": "ssh-rsa EEEE",
}


def config(facts: dict[str, str] = FACTS, **changes: Any) -> ConfigData:
    """Two nodes; the second one is no candidate, and its SSH daemon listens elsewhere."""
    second = replace(NODE2, master_candidate=False, ndparams={"ssh_port": 2222})
    cluster = replace(CONFIG.cluster, candidate_certs=facts, modify_ssh_setup=True)
    return replace(CONFIG, nodes={NODE.uuid: NODE, NODE2.uuid: second}, cluster=replace(cluster, **changes))


class SetupTests(SynchronousTestCase):
    """Made from the configuration."""

    def setup(self, state: ConfigData) -> SshSetup:
        """There is one."""
        found = ssh_setup(state)
        assert found is not None
        return found

    def test_known_hosts(self) -> None:
        """Each key stands under the node's name and address and the cluster's name; elsewhere than at 22 with the port."""
        name = CONFIG.cluster.cluster_name
        first, second = f"{NODE.name},{NODE.primary_ip}", f"{NODE2.name},{NODE2.primary_ip}"
        ports = f"[{NODE2.name}]:2222,[{NODE2.primary_ip}]:2222"
        self.assertEqual(
            self.setup(config()).known_hosts.splitlines(),
            [
                f"{first},{name} ssh-rsa AAAA",
                f"{first},{name} ssh-ed25519 BBBB",
                f"{second},{ports},{name} ssh-rsa CCCC",
            ],
        )

    def test_candidates(self) -> None:
        """All that take part let in the candidates' roots, and only theirs."""
        state = config()
        for node in state.nodes.values():
            self.assertEqual(self.setup(state).for_node(node)[1], {NODE.name: "ssh-rsa DDDD"})

    def test_not_set_up(self) -> None:
        """Root's file is left alone on a node that was added so, and on all nodes of a cluster made so."""
        alone = config({key: value for key, value in FACTS.items() if key != f"ssh-root:{NODE2.uuid}"})
        self.assertIsNone(self.setup(alone).for_node(alone.nodes[NODE2.uuid])[1])
        self.assertIsNotNone(self.setup(alone).for_node(alone.nodes[NODE.uuid])[1])
        without = config(modify_ssh_setup=False)
        self.assertEqual({self.setup(without).for_node(node)[1] for node in without.nodes.values()}, {None})
        self.assertIn("CCCC", self.setup(without).known_hosts)

    def test_nothing_known(self) -> None:
        """Nothing is sent then, so that nothing that is there is emptied."""
        self.assertIsNone(ssh_setup(config({NODE.uuid: "ab12"})))
