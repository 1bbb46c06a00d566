"""Another cluster that wants this one's master to run commands, or to break: one line, and its words reach no command."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx import __version__
from ganeti_tx.bootstrap.remote_call import REMOTE_SHELL_VARIABLE
from ganeti_tx.errors import GanetiError
from ganeti_tx.merge.access import Access
from ganeti_tx.merge.documents import Looked, Told
from ganeti_tx.merge.other import contact, decoded
from ganeti_tx.model.config_data import encode
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.config.merging.clusters import other_cluster
from ganeti_tx.test.merge.clusters import RUNNING, State
from ganeti_tx.test.merge.test_cluster import MergeCase

ADDRESS = "other.example.com"
OPTION = "-oProxyCommand=touch /root/taken"
#: Stands in the place of ssh, notes what it is asked for, and answers as the other cluster's master.
SHELL = """#!/bin/sh
echo "$@" >> {log}
for step; do :; done
case $step in
look) cat {look} ;;
tell) cat {tell} ;;
*) echo '{{}}' ;;
esac
"""

Change = Callable[[Any], None]


def put(value: object, *path: str) -> Change:
    """Put something into a document; `*` stands for the first of several."""

    def change(document: Any) -> None:
        *places, last = path
        for place in places:
            document = next(iter(document.values())) if place == "*" else document[place]
        document[last] = value

    return change


#: What the other cluster's configuration has, and what is said of it.
HOSTILE: tuple[tuple[Change, str], ...] = (
    (put(OPTION, "nodes", "*", "name"), f"node: not a host name: {OPTION!r}"),
    (put("node3\nnode4", "nodes", "*", "name"), "node: not a host name: 'node3\\nnode4'"),
    (put("", "nodes", "*", "name"), "node: not a host name: ''"),
    (put("root@node1", "nodes", "*", "name"), "node: not a host name: 'root@node1'"),
    (put("n" * 300, "nodes", "*", "name"), "node: not a host name: 'nnn"),
    (put("--all", "instances", "*", "name"), "instance: not a host name: '--all'"),
    (put(OPTION, "cluster", "cluster_name"), "cluster: not a host name"),
    (put(OPTION, "cluster", "master_ip"), "cluster, address: '-oProxyCommand=touch /root/taken' is no IP address"),
    (put("nope", "cluster", "master_node"), "the master node 'nope' is none of its 2 node(s)"),
    (put({}, "nodes"), "the master node 'node1-other' is none of its 0 node(s)"),
    (put("node9-other", "nodes", "*", "uuid"), "node 'node9-other' stands under "),
    (put("node3", "nodes", "*", "primary_ip"), "primary address: 'node3' is no IP address"),
    (put("-1", "nodes", "*", "secondary_ip"), "secondary address: '-1' is no IP address"),
    (put({"ssh_port": "abc"}, "nodes", "*", "ndparams"), "ndparams: Expected `int`, got `str` - at `$.ssh_port`"),
    (put({"ssh_port": 0}, "nodes", "*", "ndparams"), "ssh_port: 0 is no port from 1 to 65535"),
    (put({"ssh_port": 65536}, "nodegroups", "*", "ndparams"), "ssh_port: 65536 is no port from 1 to 65535"),
    (put(-7, "instances", "*", "network_port"), ": -7 is no port from 1 to 65535"),
    (put([70000], "cluster", "tcpudp_port_pool"), "cluster, free ports: 70000 is no port from 1 to 65535"),
)


def told(*changes: Change, stopped: tuple[str, ...] = ()) -> Told:
    """What the other cluster's master says."""
    document = json.loads(encode(other_cluster()))
    for change in changes:
        change(document)
    return Told(
        version=__version__,
        config=json.dumps(document).encode(),
        known_hosts="",
        was_drained=False,
        pause_end=None,
        halted=bool(stopped),
        stopped=stopped,
    )


class DocumentTests(SynchronousTestCase):
    """What its master says."""

    def refused(self, said: Told) -> str:
        """The one line."""
        with self.assertRaises(GanetiError) as caught:
            decoded(ADDRESS, said)
        line = str(caught.exception)
        self.assertEqual(line.count("\n"), 0, line)
        self.assertTrue(line.startswith(f"{ADDRESS}: "), line)
        self.assertLess(len(line), 500)
        return line

    def test_configurations(self) -> None:
        """Each is refused, with what is wrong."""
        for change, wanted in HOSTILE:
            self.assertIn(wanted, self.refused(told(change)))

    def test_scopes(self) -> None:
        """The scope of an address can be any text."""
        family = put(10, "cluster", "primary_ip_family")
        for path in (("cluster", "master_ip"), ("nodes", "*", "primary_ip")):
            addresses = [put("2001:db8::1", "cluster", "master_ip"), put("2001:db8::1%\n-x", *path)]
            self.assertIn("'2001:db8::1%\\n-x' is no IP address", self.refused(told(family, *addresses)))

    def test_stopped(self) -> None:
        """Instances that it says were stopped are its own."""
        self.assertEqual(decoded(ADDRESS, told(stopped=(RUNNING,))), other_cluster())
        said = self.refused(told(stopped=(RUNNING, "--all", "web1.example.com")))
        self.assertIn("names 2 instance(s) that its configuration has not: '--all', 'web1.example.com'", said)


class ContactTests(SynchronousTestCase):
    """The whole way, with a shell in the place of ssh."""

    def test_no_word(self) -> None:
        """Only the address that was typed is a word of a command; the key is taken back there."""
        root = Path(self.mktemp()).absolute()
        root.mkdir()
        (root / "id_ed25519.pub").write_text("ssh-ed25519 AAAA root@node1\n")
        log, look, tell, shell = (root / name for name in ("log", "look", "tell", "shell"))
        look.write_bytes(msgspec.json.encode(Looked(version=__version__, name="node3.example.com", strayed=False)))
        shell.write_text(SHELL.format(log=log, look=look, tell=tell))
        shell.chmod(0o700)
        os.environ[REMOTE_SHELL_VARIABLE] = str(shell)
        self.addCleanup(os.environ.pop, REMOTE_SHELL_VARIABLE)
        for change, stopped in ((HOSTILE[0][0], ()), (put({}, "nodes"), ()), (HOSTILE[3][0], ("--all",))):
            tell.write_bytes(msgspec.json.encode(told(change, stopped=stopped)))
            log.unlink(missing_ok=True)
            with self.assertRaises(GanetiError):
                contact(ADDRESS, Access(Paths(root), root), lambda _name: False)
            asked = [line.split() for line in log.read_text().splitlines()]
            self.assertEqual([words[0] for words in asked], [ADDRESS] * 4)
            self.assertEqual([words[-1] for words in asked], ["admit", "look", "tell", "expel"])


class RunningTests(MergeCase):
    """What it says runs."""

    def test_strange(self) -> None:
        """An instance that it has not stops the merge; nothing is started here, and all is taken back there."""
        self.state.running = {RUNNING, "--all"}
        with self.assertRaisesRegex(GanetiError, "names 1 instance.s. that its configuration has not: '--all'"):
            self.merge()
        self.assertEqual((self.own.started, "start" in self.log.done), (set(), False))
        self.assertEqual(self.state, State(running={RUNNING, "--all"}))
