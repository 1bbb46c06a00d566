"""The table of what callers with scopes may put into jobs."""

import msgspec
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.opcodes import OPCODES, OpInstanceCreate, OpInstanceSetParams, OpInstanceStartup
from ganeti_tx.model.opcodes.named import NODES, WITHOUT_INSTANCE
from ganeti_tx.model.opcodes.types import InstanceCreateMode
from ganeti_tx.rapi.access.opcode_rules import COMMON, HVPARAMS, PARAMETERS, check_parameters
from ganeti_tx.rapi.access.scoped_calls import can_be_judged
from ganeti_tx.rapi.http.http_errors import HttpError
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


class HvparamsTests(SynchronousTestCase):
    """Parameters of hypervisors, whichever opcode they are in."""

    OPS = (
        OpInstanceStartup(instance_name="web1.example.com"),
        OpInstanceSetParams(instance_name="web1.example.com"),
        OpInstanceCreate(
            instance_name="web1.example.com",
            mode=InstanceCreateMode.CREATE,
            disks=(),
            nics=(),
            hypervisor=Hypervisor.KVM,
        ),
    )

    def refused(self, name: str, value: object) -> bool:
        """Whether a value is, wherever it may stand."""
        answers = set()
        for op in self.OPS:
            try:
                check_parameters(replace(op, hvparams={name: value}))
            except HttpError as error:
                self.assertIn(f"'{name}' in 'hvparams' as '{value}'", str(error))
                answers.add(True)
            else:
                answers.add(False)
        (answer,) = answers
        return answer

    def test_values(self) -> None:
        """Those by which a guest sends commands to its node's devices are refused; others are taken, as is the way back."""
        for value in ("scsi-block", "scsi-generic"):
            self.assertTrue(self.refused("disk_type", value))
        for value in ("paravirtual", "scsi-hd", "ioemu", "default"):
            self.assertFalse(self.refused("disk_type", value))

    def test_all_values(self) -> None:
        """Of every parameter, the values that reach into a node are known one by one, and are refused."""
        for kind in HYPERVISORS.values():
            for name in HVPARAMS & set(kind.reaching):
                for value in kind.choices[name]:
                    self.assertEqual(self.refused(name, value), kind.reaches_node(name, str(value)), (name, value))
