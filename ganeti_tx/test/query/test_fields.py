"""The fields are those of Ganeti 3.0."""

from collections.abc import Collection, Mapping

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GenericError, OpPrereqError
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.params.kinds import defaults_of, types_of
from ganeti_tx.query.language import cell
from ganeti_tx.query.language.field import Field, Kind, Match
from ganeti_tx.test.query.case import QueryCase
from ganeti_tx.test.query.facts_table import FACTS

#: Here no node is asked: jobs come from the queue and locks from the lock table, which are at hand.
AT_HAND = {"lock"}
#: One that is known before its job's file is read.
KNOWN_BEFORE = ("job", "archived")
#: Fields of hypervisor parameters that Ganeti does not know; one hypervisor's may be called as another's.
OWN_PARAMETERS = {
    f"hv/{name}" for kind in HYPERVISORS.values() for name in types_of(kind.params).keys() - defaults_of(kind.params)
} - FACTS["resources"]["instance"]["fields"].keys()
#: Fields beyond the table, so that all that can be set can be read.
OURS: Mapping[str, Collection[str]] = {"group": ("hv_state", "disk_state"), "instance": OWN_PARAMETERS}
MATCHES = {"": Match.EXACT, "hostname": Match.HOSTNAME, "timestamp": Match.TIMESTAMP}


class FactsTests(QueryCase):
    """Fields against the table."""

    def fields_of(self, what: str) -> dict[str, Field]:
        """The fields by name."""
        return dict(self.queries.resources[what].fields)

    def test_same_resources(self) -> None:
        """The resources served are those of the table."""
        self.assertEqual(set(self.queries.resources), set(FACTS["resources"]))

    def test_same_fields(self) -> None:
        """Each resource has the table's fields and no others, save what else can be set."""
        for what, facts in FACTS["resources"].items():
            self.assertEqual(set(self.fields_of(what)), {*facts["fields"], *OURS.get(what, ())}, what)

    def test_same_definitions(self) -> None:
        """Each field has the title, kind and way of matching of the table, and asks nodes where the table does."""
        for what, facts in FACTS["resources"].items():
            for name, field in self.fields_of(what).items():
                if name in OURS.get(what, ()):
                    continue
                title, kind, live, match = facts["fields"][name]
                found = (field.name, field.title, field.kind.value, field.match)
                self.assertEqual(found, (name, title, kind, MATCHES[match]), f"{what} {name}")
                self.assertEqual(
                    field.live, live and what not in AT_HAND and (what, name) != KNOWN_BEFORE, f"{what} {name}"
                )

    def test_aliases(self) -> None:
        """An alias has the cells of the field that it stands for."""
        for alias, name in FACTS["resources"]["instance"]["aliases"].items():
            ((one, other),) = self.ask("instance", [alias, name])
            self.assertEqual(one, other, alias)

    def test_kinds(self) -> None:
        """The kinds are those of the table."""
        self.assertEqual(sorted(kind.value for kind in Kind), FACTS["kinds"])

    def test_every_field_says_what_it_is(self) -> None:
        """A field's description is one short line that is not its title."""
        for what in self.queries.resources:
            for field in self.fields_of(what).values():
                self.assertNotIn(field.doc, {"", field.title} - {"Tags"}, field.name)
                self.assertTrue(field.doc[0].isupper() and "\n" not in field.doc and len(field.doc) < 200, field.doc)


class StatusTests(SynchronousTestCase):
    """The statuses of cells."""

    def test_same_numbers(self) -> None:
        """Each status has the table's number, and no value comes with any but normal."""
        found = {
            "normal": cell.NORMAL,
            "unknown": cell.UNKNOWN[0],
            "no_data": cell.NO_DATA[0],
            "unavailable": cell.UNAVAILABLE[0],
            "offline": cell.OFFLINE[0],
        }
        self.assertEqual(found, FACTS["result_status"])
        empty = {each[1] for each in (cell.UNKNOWN, cell.NO_DATA, cell.UNAVAILABLE, cell.OFFLINE)}
        self.assertEqual(empty, {None})


class DefinitionTests(QueryCase):
    """QueryFields."""

    def test_all(self) -> None:
        """Without names come all fields in natural order."""
        names = [field["name"] for field in self.queries.fields("instance", None)["fields"]]
        self.assertEqual(len(names), 292 + len(OWN_PARAMETERS))
        sizes = [name for name in names if name.startswith("disk.size/")]
        self.assertEqual(sizes, [f"disk.size/{index}" for index in range(16)])

    def test_asked(self) -> None:
        """Named fields come as asked, an unknown one with the kind unknown."""
        first, second, third = self.queries.fields("node", ["role", "bogus", "role"])["fields"]
        self.assertEqual(first, third)
        self.assertEqual(
            {key: first[key] for key in ("name", "title", "kind")}, {"name": "role", "title": "Role", "kind": "text"}
        )
        self.assertEqual((second["name"], second["kind"]), ("bogus", "unknown"))

    def test_none_asked(self) -> None:
        """An empty list is the same as none: all are asked for."""
        self.assertEqual(self.queries.fields("node", []), self.queries.fields("node", None))

    def test_of_jobs(self) -> None:
        """What only jobs can tell of is refused with a word about jobs."""
        for what in FACTS["of_jobs"]:
            error = self.assertRaises(GenericError, self.queries.fields, what, None)
            self.assertEqual(type(error), GenericError)
            self.assertIn("job", str(error))

    def test_unknown_resource(self) -> None:
        """An unknown resource is named, together with the known ones."""
        error = self.assertRaises(OpPrereqError, self.queries.fields, "planet", None)
        self.assertIn("'planet'", str(error))
        self.assertIn("instance", str(error))
