"""The table of operations against the table of facts."""

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.opcodes import OPCODES
from ganeti_tx.rapi.operations.operation import Argument, Operation
from ganeti_tx.rapi.resources import fields, info
from ganeti_tx.rapi.resources.node_role import LETTERS
from ganeti_tx.rapi.resources.table import OPERATIONS
from ganeti_tx.test.rapi.facts_table import FACTS, Fact, facts

#: Arguments that clients send although they do nothing in Ganeti 3.0; here they do.
MORE_ARGUMENTS = {
    ("POST", "/2/instances/{instance_name}/replace-disks"): {"early_release"},
    ("POST", "/2/instances/{instance_name}/reinstall"): {"reason"},
}
#: Names under which read values can be sent back.
MORE_KEYS = {"/2/nodes/{node_name}/modify": {"custom_ndparams"}}
#: Jobs that the facts tell in words.
TOLD_IN_WORDS = {
    "/2/instances/{instance_name}/reinstall": (
        "OP_INSTANCE_SHUTDOWN",
        "OP_INSTANCE_REINSTALL",
        "OP_INSTANCE_STARTUP",
    ),
    "/2/os": ("OP_OS_DIAGNOSE",),
}


class TableTests(SynchronousTestCase):
    """Each method of each resource is there as clients know it."""

    def setUp(self) -> None:
        self.table: dict[tuple[str, str], Operation] = {
            (operation.method, operation.path): operation for operation in OPERATIONS
        }

    def each(self) -> list[tuple[Fact, Operation]]:
        """Every fact with its operation."""
        return [(fact, self.table[fact.method, fact.path]) for fact in facts()]

    def test_all_are_there_once(self) -> None:
        """Nothing is missing and nothing is there twice; 82 methods of 60 resources come from Ganeti."""
        known = {(fact.method, fact.path) for fact in facts()}
        self.assertEqual(known - self.table.keys(), set())
        self.assertEqual(len(self.table), len(OPERATIONS))
        self.assertEqual((len(known), len(FACTS["resources"])), (82, 60))

    def test_access(self) -> None:
        """Who may ask is the same."""
        for fact, operation in self.each():
            self.assertEqual(operation.access, set(fact.told["access"]), fact)

    def test_names(self) -> None:
        """The names in reason trails are the same."""
        for fact, operation in self.each():
            self.assertEqual(operation.resource, fact.handler.removeprefix("R_").removeprefix("2_"), fact)

    def test_arguments(self) -> None:
        """The query arguments are the same, of the same kind, and required where they were."""
        for fact, operation in self.each():
            declared = {argument.name for argument in operation.arguments}
            more = MORE_ARGUMENTS.get((fact.method, fact.path), set())
            self.assertEqual(declared, set(fact.arguments) | more, fact)
            kinds = {argument.name: argument for argument in operation.arguments}
            for told in fact.told["query_args"]:
                self.assert_kind(kinds[told.split(" ")[0]], told)

    def assert_kind(self, argument: Argument, told: str) -> None:
        """The argument is as the facts tell."""
        number = "int)" in told or argument.name in ("dry-run", "force", "bulk", "lock", "auto-promote")
        self.assertEqual(argument.kind in ("int", "flag"), number, told)
        self.assertEqual(argument.kind == "list", "comma" in told or "repeatable" in told or "fields" in told, told)
        self.assertEqual(argument.repeatable, "repeatable" in told, told)
        if "required" in told:
            self.assertTrue(argument.required, told)

    def test_opcodes(self) -> None:
        """What is submitted is the same, and known."""
        for fact, operation in self.each():
            single = fact.told.get("submits_opcode")
            expected = (single,) if single else TOLD_IN_WORDS.get(fact.path, ())
            self.assertEqual(operation.submits, expected, fact)
            self.assertEqual(set(operation.submits) - OPCODES.keys(), set())

    def test_body_schema(self) -> None:
        """A body's schema has the names that clients use, and none that a body may not hold."""
        for fact, operation in self.each():
            if not fact.takes_body or "submits_opcode" not in fact.told:
                continue
            assert operation.body is not None, fact
            keys = set(operation.body["properties"])
            kind = OPCODES[fact.told["submits_opcode"]]
            must = {each.encode_name for each in msgspec.structs.fields(kind) if each.required}
            refused = {*fact.fixed, *fact.told.get("forbidden", ()), *(must & set(fact.renames.values()))}
            more = MORE_KEYS.get(fact.path, set()) | fact.renames.keys()
            self.assertEqual(keys - {"__version__"}, set(kind.__struct_fields__) - refused | more, fact)
            self.assertIs(operation.body["additionalProperties"], False)

    def test_fields(self) -> None:
        """Whole objects have the fields that they had; what is new besides stands at the end."""
        sets = FACTS["field_sets"]
        for name, declared in (
            ("filter", fields.FILTER),
            ("group", fields.GROUP),
            ("instance", fields.INSTANCE),
            ("job_bulk", fields.JOB_BULK),
            ("job_single", fields.JOB),
            ("network", fields.NETWORK),
            ("node", fields.NODE),
        ):
            self.assertEqual(list(declared)[: len(sets[name])], sets[name], name)

    def test_features(self) -> None:
        """Clients find what they look for before they send newer requests."""
        self.assertEqual(sorted(info.FEATURES), sorted(FACTS["features"]))

    def test_roles(self) -> None:
        """Each letter of a role has its word."""
        self.assertEqual(LETTERS, FACTS["node_role_letters"])
