"""The table of what callers with scopes may put into jobs."""

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.opcodes import OPCODES
from ganeti_tx.rapi.access.opcode_rules import COMMON, NODES, PARAMETERS, WITHOUT_INSTANCE
from ganeti_tx.rapi.access.scoped_calls import can_be_judged
from ganeti_tx.rapi.resources.table import OPERATIONS


class TableTests(SynchronousTestCase):
    """The table fits the opcodes."""

    def test_parameters_exist(self) -> None:
        """Each opcode and each of its parameters is one that there is, and nothing required is missing."""
        for op_id, names in PARAMETERS.items():
            fields = {field.name: field for field in msgspec.structs.fields(OPCODES[op_id])}
            self.assertEqual(names - set(fields), set(), op_id)
            required = {name for name, field in fields.items() if field.required}
            self.assertEqual(required - names - COMMON, set(), op_id)

    def test_nothing_by_uuid(self) -> None:
        """Nothing can be named by a uuid, which would go past the check of names."""
        named = {name for names in PARAMETERS.values() for name in names if "uuid" in name}
        self.assertEqual(named, set())

    def test_nodes_are_checked(self) -> None:
        """Every parameter listed that names nodes is looked at."""
        named = {name for names in PARAMETERS.values() for name in names if "node" in name} - {"ignore_offline_nodes"}
        self.assertEqual(named - set(NODES), set())

    def test_all_name_instances(self) -> None:
        """Every opcode listed names its instance in a way that is checked."""
        for op_id, names in PARAMETERS.items():
            ways = {"instance_name", "instances"} if not op_id.startswith("OP_TAGS") else {"name"}
            self.assertTrue(names & ways or op_id in WITHOUT_INSTANCE, op_id)

    def test_operations(self) -> None:
        """Only instances, jobs, their events, free queries and systems are begun at all, and what shows nothing of the cluster."""
        admitted = {each.resource for each in OPERATIONS if can_be_judged(each)}
        rest = {name for name in admitted if not name.startswith(("instances", "jobs"))}
        self.assertEqual(rest, {"2", "events", "features", "openapi", "os", "query", "query_fields", "root", "version"})
