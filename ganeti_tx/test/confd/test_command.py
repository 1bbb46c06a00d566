"""ganeti-confd-client: its command line, its words and its status."""

import io
import os
import socket
import sys
import tempfile
import threading
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.confd import command, query_config, questions
from ganeti_tx.confd.blocking import BlockingClient
from ganeti_tx.confd.messages import MAX_REQUEST
from ganeti_tx.confd.peers import candidates, peer, read_key
from ganeti_tx.confd.protocol import Present, respond
from ganeti_tx.errors import ConfdClientError, ConfigurationError
from ganeti_tx.runtime.paths import ROOT_VARIABLE, Paths
from ganeti_tx.test.confd.cases import CONFIG, RAW_KEY, present


class Server:
    """Answers on a socket of this machine, in a thread, with the time left out of it."""

    def __init__(self, state: Present) -> None:
        self._state = state
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            datagram, address = self._socket.recvfrom(MAX_REQUEST)
            if datagram == b"end":
                return
            salt = datagram.partition(b'"salt":"')[2][:10]
            reply = respond(self._state, datagram, float(salt))
            if reply is not None:
                self._socket.sendto(reply, address)

    def stop(self) -> None:
        """End it."""
        self._socket.sendto(b"end", self._socket.getsockname())
        self._thread.join()
        self._socket.close()


class CommandCase(SynchronousTestCase):
    """The command on a node whose root is a directory."""

    main = staticmethod(command.main)
    program = "ganeti-confd-client"

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.paths = Paths(Path(directory.name))
        self.paths.data_dir.mkdir(parents=True)
        self.paths.hmac_key.write_bytes(RAW_KEY)
        self.addCleanup(os.environ.pop, ROOT_VARIABLE, None)
        os.environ[ROOT_VARIABLE] = directory.name

    def run_main(self, *argv: str) -> tuple[int | str | None, str, str]:
        """Its status and what it says on both outputs."""
        before, sys.argv = sys.argv, [f"/usr/sbin/{self.program}", *argv]
        output, errors = io.StringIO(), io.StringIO()
        try:
            with redirect_stdout(output), redirect_stderr(errors):
                status: int | str | None = self.main()
        except SystemExit as end:
            status = end.code
        finally:
            sys.argv = before
        return status, output.getvalue(), errors.getvalue()


class AnswerTests(CommandCase):
    """What it prints."""

    def setUp(self) -> None:
        super().setUp()
        server = Server(present())
        self.addCleanup(server.stop)
        self.where = ("--addr", "127.0.0.1", "--port", str(server.port), "--timeout", "5")
        self.paths.ssconf_file("master_candidates_ips").write_text("127.0.0.1\n")

    def printed(self, *argv: str) -> str:
        """What it prints when all is well."""
        status, output, errors = self.run_main(*self.where, *argv)
        self.assertEqual((status, errors), (0, ""))
        return output

    def test_words(self) -> None:
        """Every question has plain lines."""
        nodes = "".join(f"192.0.2.1{number}\n" for number in range(1, 6))
        for argv, expected in (
            (["ping"], "3000000\n"),
            (["master"], "node1.example.com 192.0.2.1 192.0.2.11\n"),
            (["node-role", "node5"], "drained\n"),
            (["node-ips"], nodes),
            (["candidates"], "192.0.2.11\n192.0.2.12\n"),
            (["instance-ips"], "198.51.100.1\n198.51.100.3\n"),
            (["instance-ips", "br1"], "198.51.100.2\n"),
            (["instance-ips", "br2"], ""),
            (["ip", "198.51.100.1", "198.51.100.3"], "198.51.100.1 192.0.2.11\n198.51.100.3 192.0.2.12\n"),
            (["ip", "--link", "br1", "198.51.100.2"], "198.51.100.2 192.0.2.11\n"),
            (["drbd", "node2"], "1 web1.example.com disk/0 secondary node1.example.com\n"),
            (["instances", "node2"], "primary web2.example.com\nsecondary web1.example.com\n"),
            (["disks", "web1"], "0 drbd 1024 disk-uuid\n"),
            (["config", "/cluster/cluster_name"], "cluster.example.com\n"),
            (["config", "/cluster/tags"], '[\n  "a/b",\n  "m~n"\n]\n'),
            (["collectors"], "cpu-avg-load active 5\n"),
        ):
            self.assertEqual(self.printed(*argv), expected, argv)
        self.assertEqual(set(command.WORDS), {"ping", "master", "node-role", "node-ips", "candidates", "instance-ips", "ip",
                                              "drbd", "instances", "disks", "config", "collectors"})  # fmt: skip

    def test_each(self) -> None:
        """Those who are asked on their own are named, and one that is silent does not hide what the others say."""
        self.assertEqual(self.printed("--each", "ping"), "127.0.0.1:\n3000000\n")
        where = ("-a", "127.0.0.1", "-a", "127.0.0.2", *self.where[2:4], "--timeout", "0.3")
        status, output, errors = self.run_main(*where, "--each", "ping")
        self.assertEqual((status, output), (1, "127.0.0.1:\n3000000\n127.0.0.2:\n"))
        self.assertIn("127.0.0.2: no answer within 0.3 s", errors)

    def test_key(self) -> None:
        """The key itself may be given, and counts instead of the file."""
        self.assertEqual(self.printed("--hmac", RAW_KEY.decode(), "ping"), "3000000\n")
        self.assertEqual(self.run_main(*self.where, "--timeout", "0.2", "--hmac", "other", "ping")[:2], (1, ""))
        self.assertEqual(self.run_main(*self.where, "--hmac", "", "ping")[2], "ganeti-confd-client: the key is empty\n")

    def test_query_config(self) -> None:
        """Values by their places, with a line or more for each; one that is not there is told, and counts."""
        self.main, self.program = query_config.main, "query-config"
        self.assertEqual(
            self.printed("/cluster/cluster_name", "/cluster/mac_prefix"), "cluster.example.com\naa:00:00\n"
        )
        self.assertIn('"answer": "cluster.example.com"', self.printed("-r", "/cluster/cluster_name"))
        status, output, errors = self.run_main(*self.where, "/cluster/nothing", "/cluster/cluster_name")
        self.assertEqual((status, output, errors.count("\n")), (1, "cluster.example.com\n", 1))
        self.assertTrue(
            errors.startswith("query-config: nothing is at '/cluster/nothing': /cluster has no 'nothing'"), errors
        )
        self.assertEqual(self.run_main(*self.where)[0], 2)

    def test_places(self) -> None:
        """Of a place that there is not the first step is told that leads nowhere, with what was probably meant."""
        self.main, self.program = query_config.main, "query-config"
        for pointer, told in (
            ("/clustre/tags", "the configuration has no 'clustre'; did you mean cluster?"),
            ("/cluster/tgas", "/cluster has no 'tgas'; did you mean tags?"),
            ("/cluster/tags/2", "/cluster/tags is a list, in which there is no '2'; there are 0 to 1"),
            ("/cluster/mac_prefix/x/y", "/cluster/mac_prefix is a single value, in which there is no 'x'"),
            ("/cluster/x~1y", "/cluster has no 'x/y'; there are "),
        ):
            status, _output, errors = self.run_main(*self.where, pointer)
            self.assertEqual(status, 1)
            self.assertIn(f"query-config: nothing is at {pointer!r}: {told}", errors)
        for wrong, told in (("cluster", "does not begin with a slash"), ("/a~b", "has a tilde")):
            self.assertIn(f"not a JSON pointer: {wrong!r} {told}", self.run_main(*self.where, wrong)[2])

    def test_slips(self) -> None:
        """A mistyped question or option has the nearest one named."""
        status, _output, errors = self.run_main("nodes-ips")
        self.assertEqual((status, errors.endswith("'collectors') (did you mean node-ips?)\n")), (2, True))
        self.assertTrue(self.run_main("--jsno", "ping")[2].endswith("--jsno (did you mean --json?)\n"))

    def test_own_candidates(self) -> None:
        """Without a host the master candidates are asked that ssconf lists."""
        self.assertEqual(self.run_main(*self.where[2:], "ping"), (0, "3000000\n", ""))

    def test_unknown_ip(self) -> None:
        """An address that nobody has is told in its line, and in the status."""
        self.assertEqual(self.run_main(*self.where, "ip", "10.9.9.9")[:2], (1, "10.9.9.9 unknown\n"))

    def test_key_file(self) -> None:
        """Another key can be named; with a wrong one nobody answers."""
        other = self.paths.root / "key"
        other.write_bytes(b"other")
        status, output, errors = self.run_main(*self.where, "--timeout", "0.2", "--hmac-file", str(other), "ping")
        self.assertEqual((status, output), (1, ""))
        self.assertRegex(
            errors, "^ganeti-confd-client: no answer within 0.2 s from 127.0.0.1; .*its key is another one.*\n$"
        )
        missing = self.run_main(*self.where, "--hmac-file", "/no/key", "ping")
        self.assertEqual(missing, (1, "", "ganeti-confd-client: no key to ask with: there is no file /no/key\n"))

    def test_full_disk(self) -> None:
        """An answer that cannot be written is told, also when only the end of the program would write it."""
        errors = io.StringIO()
        sys.argv, before = ["ganeti-confd-client", *self.where, "ping"], sys.argv
        self.addCleanup(setattr, sys, "argv", before)
        with open("/dev/full", "w") as full, redirect_stdout(full), redirect_stderr(errors):
            self.assertEqual(command.main(), 1)
        self.assertEqual(errors.getvalue(), "ganeti-confd-client: No space left on device\n")

    def test_conflict(self) -> None:
        """Peers of different minds are told."""
        other = Server(present(replace(CONFIG, instances={})))
        self.addCleanup(other.stop)
        answer = BlockingClient(
            read_key(self.paths.hmac_key), [peer("127.0.0.1", int(self.where[3])), peer("127.0.0.1", other.port)], 5
        ).ask(questions.instance_ips())
        options = command.parser().parse_args(["instance-ips"])
        errors = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(errors):
            self.assertEqual(command.show(options, command.WORDS["instance-ips"], answer), 0)
        self.assertIn("warning: 127.0.0.1 gives another answer of the same serial number", errors.getvalue())


class ProblemTests(CommandCase):
    """What it says when it cannot ask."""

    def test_no_cluster(self) -> None:
        """On a node of no cluster it names the file that is missing."""
        status, _, errors = self.run_main("ping")
        self.assertEqual(status, 1)
        self.assertRegex(
            errors, "^ganeti-confd-client: this node is not part of a cluster: no .*master_candidates_ips\n$"
        )
        self.paths.hmac_key.unlink()
        self.assertRegex(self.run_main("ping")[2], "^ganeti-confd-client: no key to ask with: .*hmac.key\n$")

    def test_command_line(self) -> None:
        """A wrong command line is refused with status 2, and what is allowed."""
        for argv in (
            [], ["no"], ["ping", "x"], ["node-role"], ["ip"], ["--timeout", "0", "ping"], ["--timeout", "nan", "ping"],
            ["--timeout", "x", "ping"], ["--port", "0", "ping"], ["--port", "65536", "ping"], ["--port", "x", "ping"],
        ):  # fmt: skip
            status, _, errors = self.run_main(*argv)
            self.assertEqual(status, 2, argv)
            self.assertIn("error: ", errors)
            self.assertNotIn("invalid port_number value", errors)

    def test_no_text(self) -> None:
        """A word that is no text is shown as it is."""
        self.paths.ssconf_file("master_candidates_ips").write_text("127.0.0.1\n")
        errors = self.run_main("config", "/cluster/\udcff")[2]
        self.assertEqual(errors, "ganeti-confd-client: '/cluster/\\udcff' cannot be written in utf-8\n")

    def test_host(self) -> None:
        """A host that there is not is named."""
        status, _, errors = self.run_main("--addr", "no..host", "ping")
        self.assertEqual((status, errors.startswith("ganeti-confd-client: cannot resolve 'no..host'")), (1, True))

    def test_family(self) -> None:
        """A name means its address of the cluster's family, an address is taken as it is, and each is asked once."""
        self.paths.etc_hosts.parent.mkdir(parents=True, exist_ok=True)
        self.paths.etc_hosts.write_text("192.0.2.1 node1\n2001:db8::1 node1\n")
        for family, own in (("2\n", "192.0.2.1"), ("10\n", "2001:db8::1")):
            self.paths.ssconf_file("primary_ip_family").write_text(family)
            asked = command.peers_of(["node1", "::1", "192.0.2.9", own], 99, self.paths)
            self.assertEqual(asked, [(own, 99), ("::1", 99), ("192.0.2.9", 99)])

    def test_candidates(self) -> None:
        """A list without candidates, or with something else, is refused."""
        path = self.paths.ssconf_file("master_candidates_ips")
        path.write_text("")
        self.assertRaises(ConfigurationError, candidates, self.paths)
        path.write_text("192.0.2.1\nnode2\n")
        self.assertRaises(ConfdClientError, candidates, self.paths)
        path.write_text("192.0.2.1\n2001:db8::0:1\n192.0.2.1\n")
        self.assertEqual(candidates(self.paths, 99), [("192.0.2.1", 99), ("2001:db8::1", 99)])
