"""Filters by example: what is read, what is refused, and what each operator means."""

from typing import Any

from ganeti_tx.errors import ECode, GanetiError, OpPrereqError, ParameterError, QueryFilterParseError
from ganeti_tx.model.enums import AdminState
from ganeti_tx.query.language.filter import MAX_DEPTH, MAX_TERMS, Parser
from ganeti_tx.query.language.slices import at_once
from ganeti_tx.test.query.case import QueryCase
from ganeti_tx.test.query.facts_table import FACTS


class OperatorTests(QueryCase):
    """Each operator on the instances web1.example.com (sample), web10.example.com and Db.other.org."""

    def setUp(self) -> None:
        """Three instances; only the sample has a NIC and a disk."""
        super().setUp()
        self.add_instance("web10.example.com", tags=("prod", "a"), serial_no=10, os="alpine")
        self.add_instance("Db.other.org", tags=("prod",), serial_no=2, admin_state=AdminState.DOWN, network_port=11001)

    def assert_pass(self, condition: object, *expected: str) -> None:
        """These pass, named by their first parts in natural order."""
        self.assertEqual([name.split(".")[0] for name in self.names("instance", condition)], list(expected), condition)

    def test_all_operators_are_known(self) -> None:
        """The table's operators are read in the table's form, and nothing else is one."""
        values: dict[str, Any] = {"FIELD": "name", "LIST_FIELD": "tags", "VALUE": "x", "PCRE_STRING": "x"}
        values["FILTER"] = ["?", "name"]
        parser = Parser(self.queries.resources["instance"].fields)
        for sign, form in FACTS["operators"].items():
            parser.parse([sign, *(values[word] for word in form[1:] if word != "...")])
        for sign in ("<>", "and", "", "~", "=*"):
            self.assertRaises(QueryFilterParseError, parser.parse, [sign, "name", "x"])

    def test_null(self) -> None:
        """No filter lets everything pass, in natural order of names."""
        self.assert_pass(None, "Db", "web1", "web10")

    def test_equal(self) -> None:
        """Equality is of value and type; = is its old spelling."""
        for sign in ("==", "="):
            self.assert_pass([sign, "os", "alpine"], "web10")
            self.assert_pass([sign, "serial_no", 2], "Db")
            self.assert_pass([sign, "serial_no", 2.0], "Db")
            self.assert_pass([sign, "serial_no", "2"])
            self.assert_pass([sign, "disks_active", 1])

    def test_one_of_many(self) -> None:
        """Equalities with one field find what each would."""
        self.assert_pass(["|", ["=", "os", "alpine"], ["==", "os", "x"], ["=", "os", 1]], "web10")
        self.assert_pass(["|", ["=", "serial_no", 2.0], ["=", "serial_no", "10"], ["=", "serial_no", 1]], "Db", "web1")
        self.assert_pass(["|", ["=", "disks_active", 1], ["=", "disks_active", 0]])
        self.assert_pass(["|", ["=", "tags", "a"], ["=", "tags", "prod"]])
        self.assert_pass(["|", ["=", "name", "web1"], ["=", "os", "alpine"]], "web1", "web10")
        self.assert_pass(["&", ["|", ["=", "name", "web1"], ["=", "name", "Db"]], ["&"]], "Db", "web1")

    def test_many_cost_no_more(self) -> None:
        """However many values a field may be equal to, each row is looked at once."""
        condition = ["|", *(["=", "os", f"os{number}"] for number in range(1000))]
        looks: list[object] = []
        test = Parser(self.queries.resources["instance"].fields).parse(condition).bind(lambda field: looks.append)
        self.assertEqual(at_once(test(["row", "row"])), [False, False])
        self.assertEqual(looks, ["row", "row"])

    def test_not_equal(self) -> None:
        """!= is the negation of ==."""
        self.assert_pass(["!=", "os", "alpine"], "Db", "web1")
        self.assert_pass(["!=", "serial_no", "2"], "Db", "web1", "web10")
        self.assert_pass(["!=", "name", "web1"], "Db", "web10")

    def test_hostname(self) -> None:
        """Host names match by whole leading components, without regard to case, under == and != only."""
        for name in ("node1", "node1.example", "node1.example.com", "NODE1"):
            self.assert_pass(["==", "pnode", name], "Db", "web1", "web10")
        for name in ("node", "node1.", "node1.example.com.", "example.com", "node1.exam", ""):
            self.assert_pass(["==", "pnode", name])
        self.assert_pass(["!=", "pnode", "node1"])
        self.assert_pass(["<=", "pnode", "node1"])

    def test_hostname_is_text(self) -> None:
        """A number is no host name."""
        self.assert_pass(["==", "pnode", 1])

    def test_other_names_are_exact(self) -> None:
        """Fields that hold no host name match as a whole."""
        self.assert_pass(["==", "os", "debian"])

    def test_orderings(self) -> None:
        """Numbers are ordered as numbers and text as text."""
        self.assert_pass(["<", "serial_no", 2], "web1")
        self.assert_pass(["<=", "serial_no", 2], "Db", "web1")
        self.assert_pass([">", "serial_no", 2], "web10")
        self.assert_pass([">=", "serial_no", 2], "Db", "web10")
        self.assert_pass(["<", "os", "b"], "web10")
        self.assert_pass([">", "ctime", -1], "Db", "web1", "web10")

    def test_orderings_need_one_type(self) -> None:
        """Text is not ordered with numbers, nor anything with booleans and lists."""
        for condition in (["<", "serial_no", "2"], [">", "os", 2], ["<", "disks_active", 1], [">=", "tags", "a"]):
            error = self.refusal(ParameterError, "instance", ["name"], condition)
            self.assertIn(repr(condition[1]), str(error))

    def test_regexp(self) -> None:
        """A pattern is found anywhere in the text."""
        self.assert_pass(["=~", "name", "eb1"], "web1", "web10")
        self.assert_pass(["=~", "name", r"^web1\."], "web1")
        self.assert_pass(["=~", "name", "(?i)^db"], "Db")
        self.assert_pass(["!", ["=~", "name", "eb1"]], "Db")

    def test_regexp_is_for_text(self) -> None:
        """A pattern on a number or a list is an error, and so is a number as pattern."""
        for field in ("serial_no", "tags", "disks_active"):
            self.refusal(ParameterError, "instance", ["name"], ["=~", field, "1"])
        self.refusal(QueryFilterParseError, "instance", ["name"], ["=~", "name", 1])

    def test_contains(self) -> None:
        """=[] looks for a value in a list."""
        self.assert_pass(["=[]", "tags", "prod"], "Db", "web10")
        self.assert_pass(["=[]", "tags", "pro"])
        self.assert_pass(["=[]", "disk.sizes", 1024], "web1")
        self.assert_pass(["=[]", "disk.sizes", "1024"])
        self.refusal(ParameterError, "instance", ["name"], ["=[]", "name", "web1"])

    def test_truth(self) -> None:
        """? is true of what is neither false, nor zero, nor empty."""
        self.assert_pass(["?", "admin_up"], "web1", "web10")
        self.assert_pass(["?", "tags"], "Db", "web10")
        self.assert_pass(["?", "nic.count"], "web1")
        self.assert_pass(["!", ["?", "admin_up"]], "Db")

    def test_logic(self) -> None:
        """& needs all, | needs one, ! turns over; & of nothing holds and | of nothing does not."""
        prod, up = ["=[]", "tags", "prod"], ["?", "admin_up"]
        self.assert_pass(["&", prod, up], "web10")
        self.assert_pass(["|", prod, up], "Db", "web1", "web10")
        self.assert_pass(["!", ["&", prod, up]], "Db", "web1")
        self.assert_pass(["&", prod], "Db", "web10")
        self.assert_pass(["&"], "Db", "web1", "web10")
        self.assert_pass(["|"])

    def test_without_data(self) -> None:
        """An item that has no value for a field passes, but not what is turned over."""
        self.assert_pass(["==", "network_port", 1], "web1", "web10")
        self.assert_pass(["?", "network_port"], "Db", "web1", "web10")
        self.assert_pass(["!=", "network_port", 1], "Db")
        self.assert_pass(["!=", "network_port", 11001])
        self.assert_pass(["!", ["?", "network_port"]])
        self.assert_pass(["!", ["<", "disk.size/0", 1]], "web1")
        self.assert_pass(["<", "disk.size/0", 1], "Db", "web10")
        self.assert_pass(["=~", "nic.mac/0", "zz"], "Db", "web10")

    def test_without_data_among_others(self) -> None:
        """Another term may still refuse an item without data."""
        self.assert_pass(["&", ["==", "network_port", 1], ["==", "os", "alpine"]], "web10")
        self.assert_pass(["|", ["==", "network_port", 1], ["==", "serial_no", 2]], "Db", "web1", "web10")


class TimestampTests(QueryCase):
    """Times of jobs."""

    def setUp(self) -> None:
        """Two jobs, of which the second never started."""
        super().setUp()
        self.jobs = {
            1: {"id": 1, "received_ts": (100, 900_000), "start_ts": (101, 5)},
            2: {"id": 2, "received_ts": (200, 0), "start_ts": None},
        }

    def test_seconds_count(self) -> None:
        """Comparisons look at the seconds alone."""
        self.assertEqual(self.names("job", ["==", "received_ts", 100]), [1])
        self.assertEqual(self.names("job", ["!=", "received_ts", 100]), [2])
        self.assertEqual(self.names("job", [">", "received_ts", 100]), [2])
        self.assertEqual(self.names("job", ["<=", "received_ts", 100]), [1])

    def test_not_yet(self) -> None:
        """A time that has not come lets the job pass."""
        self.assertEqual(self.names("job", ["<", "start_ts", 50]), [2])

    def test_type(self) -> None:
        """A time is not ordered with text."""
        self.refusal(ParameterError, "job", ["id"], ["<", "received_ts", "100"])


class RefusalTests(QueryCase):
    """Filters that are none."""

    def refused(self, condition: object, error: type[GanetiError] = QueryFilterParseError) -> str:
        """The text of the refusal, which must come without a call to any node."""
        text = str(self.refusal(error, "instance", ["name", "status"], condition))
        self.assertEqual(self.rpc.sent, [])
        return text

    def test_unknown_field(self) -> None:
        """An unknown field in a filter is an error, also where its term would not matter; in the field list it is not."""
        for condition in (["==", "bogus", "x"], ["?", "bogus"], ["|", ["?", "name"], ["=~", "bogus", "x"]]):
            self.refuses(ECode.INVAL, "instance", ["name"], condition)
            self.assertIn("'bogus'", self.refused(condition, OpPrereqError))
        self.assertEqual(self.column("instance", "bogus"), [(1, None)])

    def test_malformed(self) -> None:
        """What is not a list that starts with an operator is no filter."""
        wrong: list[Any] = [[], {}, "name", 1, [1, "name", "x"], [["?", "name"]], ["!", "name"], ["&", "name"], [None]]
        for condition in wrong:
            self.refused(condition)

    def test_operands(self) -> None:
        """Each operator takes its number of operands."""
        for condition in (
            ["=="],
            ["==", "name"],
            ["==", "name", "a", "b"],
            ["?"],
            ["?", "name", 1],
            ["!"],
            ["=~", "name"],
        ):
            self.assertIn("operands", self.refused(condition))
        self.assertIn("operands", self.refused(["!", ["?", "name"], ["?", "name"]]))

    def test_value_types(self) -> None:
        """Values are text or integers; floats, booleans, null and lists are refused."""
        values: list[Any] = [1.5, True, None, ["a"], {}]
        for sign in ("==", "!=", "<", "=[]", "=~"):
            for value in values:
                self.assertIn("string", self.refused([sign, "name", value]))

    def test_field_names_are_text(self) -> None:
        """A field is named by text."""
        names: list[Any] = [1, None, ["name"], {}]
        for name in names:
            self.assertIn("must be a string", self.refused(["?", name]))

    def test_depth(self) -> None:
        """A filter may be nested up to a limit."""
        condition: list[Any] = ["==", "os", "debian+default"]
        for _ in range(MAX_DEPTH - 1):
            condition = ["!", condition]
        self.assertEqual(self.names("instance", condition), [])
        self.assertIn(str(MAX_DEPTH), self.refused(["!", condition]))

    def test_depth_without_end(self) -> None:
        """A filter nested deeper than any stack is refused as calmly."""
        condition: list[Any] = ["?", "name"]
        for _ in range(MAX_TERMS // 2):
            condition = ["!", condition]
        self.refused(condition)

    def test_size(self) -> None:
        """A filter may have terms up to a limit."""
        term = ["==", "os", "x"]
        self.assertEqual(self.names("instance", ["|", *[term] * (MAX_TERMS - 1)]), [])
        self.assertIn(str(MAX_TERMS), self.refused(["|", *[term] * MAX_TERMS]))

    def test_errors_stay_short(self) -> None:
        """What is shown of a value from outside is cut off."""
        long = "x" * 10_000
        for condition in ([long, "name", "x"], ["?", long], ["<", "serial_no", long]):
            error = self.refusal(GanetiError, "instance", ["name"], condition)
            self.assertLess(len(str(error)), 300)
