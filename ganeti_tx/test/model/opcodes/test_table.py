"""The declared opcodes are the table of Ganeti 3.0: nothing missing, nothing more."""

import json
from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.opcodes import OPCODES, Disclosure, OpClusterSetParams, OpCode, decode, encode
from ganeti_tx.model.opcodes.base import ABBREVIATIONS
from ganeti_tx.test.model.opcodes.facts import FACTS, OPCODE_FACTS, minimal, samples

COMMON = FACTS["base_order"]


def default_of(field: msgspec.structs.FieldInfo) -> Any:
    """The default in its JSON form, or "required"."""
    if field.required:
        return "required"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    return json.loads(msgspec.json.encode(value))


#: Parameters beyond Ganeti's; all have a default, so no program need know them.
OWN: dict[str, dict[str, Any]] = {
    "OP_CLUSTER_RENEW_CRYPTO": {
        "cluster_certificate": {"default": False, "required": False},
        "confd_hmac_key": {"default": False, "required": False},
    },
    "OP_CLUSTER_SET_PARAMS": {
        "default_disk_size": {"default": None, "required": False},
        "default_group": {"default": None, "required": False},
    },
    "OP_INSTANCE_CREATE": {"no_nics": {"default": False, "required": False}},
    "OP_INSTANCE_FAILOVER": {
        "secondary_node": {"default": None, "required": False},
        "secondary_node_uuid": {"default": None, "required": False},
        "wait_for_sync": {"default": False, "required": False},
    },
    "OP_INSTANCE_MIGRATE": {
        "secondary_node": {"default": None, "required": False},
        "secondary_node_uuid": {"default": None, "required": False},
        "copy_disks": {"default": False, "required": False},
    },
    "OP_OS_DIAGNOSE": {"group_name": {"default": None, "required": False}},
}


class DeclarationTests(SynchronousTestCase):
    """Names, order, defaults and required flags."""

    def test_same_opcodes(self) -> None:
        """Every OP_ID has a class of Ganeti's name, and no other OP_ID is known."""
        declared = {op_id: kind.__name__ for op_id, kind in OPCODES.items()}
        self.assertEqual(declared, {op_id: fact["class_name"] for op_id, fact in OPCODE_FACTS.items()})

    def test_same_parameters(self) -> None:
        """Each class declares the parameters of the table in its order, after the common ones.

        Those about settings of the cluster stand in the order of the settings.
        """
        for op_id, fact in OPCODE_FACTS.items():
            order: Any = sorted if OPCODES[op_id] is OpClusterSetParams else list
            declared = order(OPCODES[op_id].__struct_fields__)
            self.assertEqual(declared, order([*COMMON, *fact["param_order"], *OWN.get(op_id, ())]), op_id)

    def test_same_defaults(self) -> None:
        """Defaults and required parameters are those of the table."""
        for op_id, fact in OPCODE_FACTS.items():
            declared = {field.name: default_of(field) for field in msgspec.structs.fields(OPCODES[op_id])}
            expected = {**FACTS["common_params"], **fact["params"], **OWN.get(op_id, {})}
            self.assertEqual(declared, {name: param["default"] for name, param in expected.items()}, op_id)
            required = {field.name for field in msgspec.structs.fields(OPCODES[op_id]) if field.required}
            self.assertEqual(required, {name for name, param in expected.items() if param["required"]}, op_id)

    def test_same_summary_fields(self) -> None:
        """The summary shows the parameter that the table names."""
        declared = {op_id: kind.summary_field for op_id, kind in OPCODES.items()}
        self.assertEqual(declared, {op_id: fact["dsc_field"] for op_id, fact in OPCODE_FACTS.items()})
        self.assertEqual(ABBREVIATIONS, FACTS["abbreviations"])

    def test_same_demands_on_the_wire(self) -> None:
        """The queue demands the reason, and of the dummy all its parameters."""
        for op_id, kind in OPCODES.items():
            expected = {"reason", *FACTS["wire_required"].get(op_id, ())}
            self.assertEqual(set(kind.wire_required), expected, op_id)

    def test_every_opcode_is_explained(self) -> None:
        """Each class says in one line what it does."""
        for op_id, kind in OPCODES.items():
            self.assertRegex(kind.__doc__ or "", r"\A[A-Z][^\n]+\.\Z", op_id)

    def test_frozen_and_by_keyword(self) -> None:
        """No class lost what a Struct does not inherit."""
        for op_id, kind in OPCODES.items():
            config = kind.__struct_config__
            self.assertTrue(config.frozen and config.forbid_unknown_fields, op_id)
            self.assertRaises(TypeError, kind, None)


#: Parameters that are opcodes themselves and are read at once, so that it is known what in them is secret.
NARROWER = {("OP_INSTANCE_MULTI_ALLOC", "instances")}


class TypeTests(SynchronousTestCase):
    """Types, by what they admit and refuse."""

    def test_admitted_values(self) -> None:
        """What the type of the table admits is accepted and comes back unchanged."""
        for op_id, name, phrase in all_params():
            for value in samples(phrase).good:
                op = decode({**minimal(op_id), name: value})
                again = encode(op, Disclosure.WIRE)
                self.assertEqual(again.get(name), value, f"{op_id}.{name}")
                self.assertEqual(decode(again), op)

    def test_refused_values(self) -> None:
        """What the type of the table does not admit is refused as wrong input, on one line that names the parameter."""
        for op_id, name, phrase in all_params():
            for value in samples(phrase).bad:
                with self.assertRaises(OpPrereqError, msg=f"{op_id}.{name} takes {value!r}") as caught:
                    decode({**minimal(op_id), name: value})
                self.assertEqual(caught.exception.ecode, ECode.INVAL)
                self.assertRegex(str(caught.exception), rf"\A{op_id}(\.|: ){name}\b[^\n]*: [^\n]+\Z")

    def test_samples_refuse_something(self) -> None:
        """Save for a type that admits everything, each type is tried with values on both sides."""
        for op_id, name, phrase in all_params():
            both = samples(phrase)
            self.assertTrue(both.good and (both.bad or phrase == "any JSON"), f"{op_id}.{name}")


def all_params() -> list[tuple[str, str, str]]:
    """Each parameter of each opcode, with the phrase for its type; the common ones once."""
    common = [("OP_CLUSTER_QUERY", name, fact["type"]) for name, fact in FACTS["common_params"].items()]
    own = [(op, name, fact["type"]) for op, facts in OPCODE_FACTS.items() for name, fact in facts["params"].items()]
    return [each for each in common + own if each[:2] not in NARROWER]


class BaseTests(SynchronousTestCase):
    """The class that all share."""

    def test_not_an_opcode_itself(self) -> None:
        """The base names no operation."""
        self.assertNotIn(OpCode, OPCODES.values())
