"""Tests of list and list-fields: tables, columns, statuses of values."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.output import Column, Style, format_size, table
from ganeti_tx.test.cli.fakes import CommandLine, answer_of

INSTANCES = answer_of(
    ("name", "text", "Instance"),
    ("be/memory", "unit", "ConfigMaxMem"),
    ("vcpus", "number", "vcpus"),
    ("admin_up", "bool", "Autostart"),
    ("tags", "other", "Tags"),
    ("oper_ram", "unit", "Memory"),
    rows=[
        ["web1.example.com", 1536, 2, True, ["a", "b"], 1536],
        ["db", 512, 12, False, [], (3, None)],
        ["old", 1048576, 1, False, [], (4, None)],
        ["new", 4, 1, False, [], (2, None)],
    ],
)


class ListTests(SynchronousTestCase):
    """gnt-instance list stands for all nouns."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.answers["Query"] = lambda resource, fields, chosen: INSTANCES

    def test_table(self) -> None:
        """Text and flags stand left, numbers and sizes right; sizes are human; missing values have their signs."""
        outcome = self.cli("gnt-instance", "list")
        self.assertEqual(outcome.status, 0)
        self.assertEqual(
            outcome.out.splitlines(),
            [
                "Instance         ConfigMaxMem vcpus Autostart Tags Memory",
                "web1.example.com         1.5G     2 Y         a,b    1.5G",
                "db                       512M    12 N                   -",
                "old                      1.0T     1 N                   *",
                "new                        4M     1 N                   ?",
            ],
        )

    def test_commands(self) -> None:
        """No cell has the end of a line or what a terminal would obey, whoever has written it; nothing of it is lost."""
        said = "a\tb\n\x1b]0;owned\x07\r\x9b2J\u2028\u202e"
        shown = r"a\tb\n\x1b]0;owned\x07\r\x9b2J\u2028\u202e"
        rows = [["web1", said, [said], 1], [said, "Z\u00fcrich", [], 2]]
        self.cli.client.answers["Query"] = lambda *_: answer_of(
            ("name", "text", "Name"),
            ("bootid", "text", "Boot\nid"),
            ("tags", "other", "Tags"),
            ("n", "number", "n"),
            rows=rows,
        )
        outcome = self.cli("gnt-instance", "list", "--separator=|")
        self.assertEqual(outcome.out, f"Name|Boot\\nid|Tags|n\nweb1|{shown}|{shown}|1\n{shown}|Z\u00fcrich||2\n")
        aligned = self.cli("gnt-instance", "list").out
        self.assertEqual((len(aligned.splitlines()), aligned.count(shown)), (3, 3))
        self.assertTrue(all(line.isprintable() for line in aligned.splitlines()))

    def test_other_tables(self) -> None:
        """Tables that are no answer of a query are made so, too."""
        column = Column("Name", str)
        for style in (Style(), Style(separator="|"), Style(headers=False)):
            self.assertEqual(table([column], [["a\n\x1b"]], style)[-1], r"a\n\x1b")

    def test_kind_other(self) -> None:
        """Cells of kind other are as Python prints them, but for those fields that Ganeti joins."""
        self.cli.client.answers["Query"] = lambda *_: answer_of(
            ("disk.sizes", "other", "Disk_sizes"),
            ("disk.names", "other", "Disk_names"),
            ("beparams", "other", "BackendParameters"),
            ("nic.ips", "other", "NIC_IPs"),
            rows=[[[1024, 512], ["x", None], {"auto_balance": True}, [None]]],
        )
        outcome = self.cli("gnt-instance", "list", "--separator=|", "--no-headers")
        self.assertEqual(outcome.out, "1024,512|['x', None]|{'auto_balance': True}|None\n")

    def test_field_without_name(self) -> None:
        """It is told in what was typed."""
        for typed, place in (("+", 1), ("+name,", 2), ("name,,os", 2)):
            outcome = self.cli("gnt-instance", "list", "-o", typed)
            self.assertIn(f"field {place} of {typed!r} has no name", outcome.err)

    def test_separator(self) -> None:
        """With a separator nothing is aligned and sizes are mebibytes."""
        outcome = self.cli("gnt-instance", "list", "--separator=|", "--no-headers")
        self.assertEqual(outcome.out.splitlines()[:2], ["web1.example.com|1536|2|Y|a,b|1536", "db|512|12|N||-"])

    def test_units(self) -> None:
        """A unit that was asked for is not written."""
        outcome = self.cli("gnt-instance", "list", "--separator=|", "--no-headers", "--units", "g")
        self.assertEqual(outcome.out.splitlines()[0], "web1.example.com|1.5|2|Y|a,b|1.5")

    def test_verbose(self) -> None:
        """Missing values are named with -v."""
        lines = self.cli("gnt-instance", "list", "-v", "--separator=|", "--no-headers").out.splitlines()
        self.assertEqual([line.rsplit("|", 1)[1] for line in lines], ["1536", "(unavail)", "(offline)", "(nodata)"])

    def test_usual_fields(self) -> None:
        """Without -o, or with an empty one, the usual fields are asked for, of everything."""
        self.cli("gnt-instance", "list")
        self.cli("gnt-instance", "list", "-o", "")
        fields = ["name", "hypervisor", "os", "pnode", "status", "oper_ram"]
        self.assertEqual(self.cli.client.sent("Query"), [["instance", fields, None]] * 2)

    def test_fields(self) -> None:
        """-o names the fields; a plus adds to the usual ones."""
        self.cli("gnt-node", "list", "-o", "name,tags", "node1")
        self.cli("gnt-node", "list", "-o", "+tags")
        (_noun, named, chosen), (_noun2, added, _all) = self.cli.client.sent("Query")
        self.assertEqual((named, chosen), (["name", "tags"], ["|", ["==", "name", "node1"]]))
        self.assertEqual((added[0], added[-1], len(added)), ("name", "tags", 9))

    def test_field_without_a_name(self) -> None:
        """Two commas in a row, or one at an end, are a mistake, which is told with the place."""
        for given, place in (("name,,role", 2), (",name", 1), ("name,", 2), ("+", 1), ("+tags,", 2)):
            outcome = self.cli("gnt-node", "list", "-o", given)
            self.assertEqual((outcome.status, outcome.out), (2, ""), given)
            self.assertIn(f"field {place} of ", outcome.err)
        self.assertEqual(self.cli.client.sent("Query"), [])

    def test_unknown_field(self) -> None:
        """A field the server does not know is named on standard error and gives the exit status 14."""
        self.cli.client.answers["Query"] = lambda *_: answer_of(
            ("name", "text", "Name"), ("x", "unknown", "x"), rows=[["a", (1, None)]]
        )
        outcome = self.cli("gnt-instance", "list", "-o", "name,x")
        self.assertEqual(outcome.status, 14)
        self.assertEqual(outcome.out, "Name x\na    ??\n")
        self.assertEqual(outcome.err, "Warning: Queried for unknown fields x\n")

    def test_environment(self) -> None:
        """GNT_INSTANCE_LIST holds options for every list of instances."""
        self.cli.environ["GNT_INSTANCE_LIST"] = "--no-headers --separator=:"
        self.assertEqual(self.cli("gnt-instance", "list").out.splitlines()[1], "db:512:12:N::-")

    def test_group(self) -> None:
        """gnt-node list -g, the spelling of an older design, selects the nodes of a group, which is there."""
        nodes = self.cli.client.answers["Query"]
        groups = answer_of(("name", "text", "Group"), ("node_list", "other", "NodeList"), rows=[["rack1", ["node1"]]])
        self.cli.client.answers["Query"] = lambda kind, *rest: groups if kind == "group" else nodes(kind, *rest)
        self.cli("gnt-node", "list", "-g", "rack1")
        self.assertEqual(self.cli.client.sent("Query")[-1][2], ["==", "group", "rack1"])
        groups["data"] = []
        outcome = self.cli("gnt-node", "list", "-g", "nosuch")
        self.assertEqual((outcome.status, outcome.out), (1, ""))
        self.assertIn("Node group name nosuch not found", outcome.err)

    def test_list_fields(self) -> None:
        """list-fields shows name, type, title and description."""
        self.cli.client.answers["QueryFields"] = lambda *_: answer_of(
            ("name", "text", "Instance"), ("oper_ram", "unit", "Memory"), ("tags", "other", "Tags")
        )
        outcome = self.cli("gnt-instance", "list-fields", "name")
        self.assertEqual(
            outcome.out.splitlines(),
            [
                "Name     Type         Title    Description",
                "name     Text         Instance The name",
                "oper_ram Storage size Memory   The oper_ram",
                "tags     Custom       Tags     The tags",
            ],
        )
        self.assertEqual(self.cli.client.sent("QueryFields"), [["instance", ["name"]]])

    def test_bad_filter(self) -> None:
        """A filter that cannot be read never reaches the server."""
        outcome = self.cli("gnt-instance", "list", "name ==")
        self.assertEqual((outcome.status, outcome.out), (1, ""))
        self.assertEqual(len(outcome.err.splitlines()), 1)
        self.assertEqual(self.cli.client.calls, [])


class JobListTests(SynchronousTestCase):
    """Jobs are selected by number and by status."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.answers["Query"] = lambda *_: answer_of(
            ("id", "number", "ID"),
            ("status", "text", "Status"),
            ("summary", "other", "Summary"),
            ("start_ts", "other", "Start"),
            ("opstart", "other", "OpCode_start"),
            rows=[
                [7, "success", ["TEST_DELAY(1)", "TEST_DELAY(2)"], None, []],
                [12, "running", ["C_VERIFY"], [0, 5], [[0, 5]]],
            ],
        )

    def test_table(self) -> None:
        """Opcodes are joined; times of the job are as Python prints them, those of its opcodes are readable."""
        lines = self.cli("gnt-job", "list").out.splitlines()
        self.assertEqual(lines[1], " 7 success TEST_DELAY(1),TEST_DELAY(2) None   []")
        self.assertRegex(
            lines[2],
            r"^12 running C_VERIFY                    \[0, 5\] \['(1970-01-01|1969-12-31) \d\d:00:00\.000005'\]$",
        )

    def test_selection(self) -> None:
        """Numbers and a status must both hold."""
        self.cli("gnt-job", "list", "--running", "7")
        self.assertEqual(
            self.cli.client.sent("Query")[0],
            ["job", ["id", "status", "summary"], ["&", ["|", ["==", "id", 7]], ["|", ["==", "status", "running"]]]],
        )

    def test_archived(self) -> None:
        """Archived jobs come when the field archived is asked for."""
        self.cli("gnt-job", "list", "--archived")
        self.assertEqual(self.cli.client.sent("Query")[0][1], ["id", "status", "summary", "archived"])


class SizeFormatTests(SynchronousTestCase):
    """Sizes as text."""

    def test_units(self) -> None:
        """Human sizes name their unit, others do not."""
        found = [
            format_size(*case)
            for case in ((512, "h"), (1024, "h"), (1048576, "h"), (512, "m"), (512, "g"), (1048576, "t"))
        ]
        self.assertEqual(found, ["512M", "1.0G", "1.0T", "512", "0.5", "1.0"])
