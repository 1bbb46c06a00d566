"""Each field of each resource is asked for, in a cluster that has a value for it, and tells one of its kind."""

from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.query.language.cell import NORMAL
from ganeti_tx.test.inprocess.populated import PopulatedCase
from ganeti_tx.test.query.facts_table import FACTS
from ganeti_tx.test.query.shapes import SHAPES, shape_of

#: All fields of the table.
ALL = 441


def kinds_of(what: str) -> dict[str, str]:
    """The kind of each field of a resource, by the table."""
    if what in FACTS["of_jobs"]:
        return {name: kind for name, (_, kind, *_) in FACTS["job_resources"][what].items()}
    return {name: kind for name, (_, kind, *_) in FACTS["resources"][what]["fields"].items()}


def fault(value: object, shape: Any) -> str | None:
    """Why a value is not of that shape; a whole number counts as a number with a fraction, and nothing else as another."""
    try:
        msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        return str(error)
    return None


class AllFieldsTests(PopulatedCase):
    """The whole table."""

    def ask(self, what: str, fields: list[str]) -> Any:
        """What a client is told."""
        if what not in FACTS["of_jobs"]:
            return self.luxi().query(what, fields, None)
        luxi = self.luxi()
        job_id = luxi.submit_job([{"OP_ID": "OP_QUERY", "what": what, "fields": fields, "reason": []}])
        self.cluster.pass_time(30)
        ((status, (result,)),) = luxi.query_jobs([job_id], ["status", "opresult"])
        self.assertEqual(status, "success", result)
        return result

    def test_each_has_a_value(self) -> None:
        """441 of 441, each as a client reads it, of the kind that its definition says."""
        seen = 0
        for what in (*FACTS["resources"], *FACTS["of_jobs"]):
            kinds = kinds_of(what)
            answer = self.ask(what, list(kinds))
            self.assertEqual([(each["name"], each["kind"]) for each in answer["fields"]], list(kinds.items()))
            for number, (name, kind) in enumerate(kinds.items()):
                values = [row[number][1] for row in answer["data"] if row[number][0] == NORMAL]
                self.assertTrue(values, f"{what} {name} has no value in any row")
                for value in values:
                    self.assertIsNone(fault(value, shape_of(what, name, kind)), f"{what} {name} is {value!r}")
                seen += 1
        self.assertEqual(f"{seen} of {ALL}", "441 of 441")


class ShapeTests(SynchronousTestCase):
    """What is held of values."""

    def test_shapes(self) -> None:
        """Each field of the kind "other" has a shape that is held, and no other field has one."""
        for what, shapes in SHAPES.items():
            others = {name for name, kind in kinds_of(what).items() if kind == "other" and not name.startswith("hv/")}
            self.assertEqual(set(shapes), others, what)
