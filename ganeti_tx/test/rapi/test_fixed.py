"""What the bodies of submissions may not hold, walked through the table of facts."""

from ganeti_tx.test.rapi.case import OperationCase
from ganeti_tx.test.rapi.facts_table import Fact, facts

PARTS = {"job_id": "7", "disk_index": "0", "filter_uuid": "0" * 8}
#: Arguments without which a request is refused before its body is looked at.
NEEDED = "?name=unit&output_fields=name&tag=a&storage_type=lvm-vg&mode=local"


def address(fact: Fact) -> str:
    """A path of the resource, with the arguments that it needs."""
    parts = [PARTS.get(part[1:-1], "one") if part.startswith("{") else part for part in fact.path.split("/")]
    return "/".join(parts) + ("" if fact.takes_body else NEEDED)


class FixedTests(OperationCase):
    """The path and the arguments decide some parameters; no body does."""

    def test_refused_in_bodies(self) -> None:
        """A body that holds such a parameter is refused, and the parameter is named."""
        tried = 0
        for fact in facts():
            for name in fact.fixed if fact.takes_body else ():
                body = {"__version__": 1, name: "x"}
                if fact.path != "/2/instances" or fact.method != "POST":
                    del body["__version__"]
                self.assertIn(f"'{name}'", self.refused(fact.method, address(fact), body))
                tried += 1
        self.assertGreater(tried, 40)

    def test_ignored_bodies(self) -> None:
        """A body that is not looked at changes nothing, whatever it is, save that depends is passed on."""
        tried = 0
        for fact in facts():
            if fact.told["body"] != "ignored":
                continue
            plain = self.submitted(fact.method, address(fact))
            name = fact.fixed[0]
            self.assertEqual(self.submitted(fact.method, address(fact), {name: "other", "junk": 1}), plain)
            self.assertEqual(self.submitted(fact.method, address(fact), ["junk"]), plain)
            depends = [[5, ["success"]]]
            self.assertEqual(
                self.submitted(fact.method, address(fact), {"depends": depends}), plain | {"depends": depends}
            )
            tried += 1
        self.assertGreater(tried, 15)

    def test_both_names(self) -> None:
        """A parameter that stands there under the client's and the opcode's name is refused."""
        for fact in facts():
            for old, new in fact.renames.items():
                body = {old: "x", new: "y"} | ({"__version__": 1} if fact.path == "/2/instances" else {})
                told = self.refused(fact.method, address(fact), body)
                self.assertIn(f"'{old}' and '{new}'", told)
