"""What a client is told about an opcode that is wrong, and what an old spelling becomes."""

from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, OpCodeUnknown, OpPrereqError
from ganeti_tx.model.opcodes import OPCODES, OpInstanceCreate, OpInstanceSetParams, OpTestDelay, decode
from ganeti_tx.model.opcodes.decode import check, make_custom
from ganeti_tx.model.opcodes.fault import describe_fault
from ganeti_tx.model.opcodes.types import ChangeAction, DiskChange
from ganeti_tx.test.model.opcodes.facts import OPCODE_FACTS, minimal

CREATE = minimal("OP_INSTANCE_CREATE")
MODIFY = {"OP_ID": "OP_INSTANCE_SET_PARAMS", "instance_name": "web1"}


class RefusalTests(SynchronousTestCase):
    """Refusals name the parameter, what is allowed there and what came."""

    def refusal(self, raw: object, *, strict_wire: bool = False) -> str:
        """The text of the refusal."""
        with self.assertRaises(OpPrereqError) as caught:
            decode(raw, strict_wire=strict_wire)
        self.assertEqual(caught.exception.ecode, ECode.INVAL)
        return str(caught.exception)

    def check(self, raw: dict[str, Any], expected: str) -> None:
        """The refusal reads as expected."""
        self.assertEqual(self.refusal(raw), expected)

    def test_unknown_opcode(self) -> None:
        """An OP_ID that names nothing, or is none, is told apart from wrong parameters."""
        for op_id in ("OP_EXPLODE", None, 5, ["OP_QUERY"], "OpCode", "OP_QUERY\n"):
            self.assertRaises(OpCodeUnknown, decode, {"OP_ID": op_id})
        self.assertRaises(OpCodeUnknown, decode, {})

    def test_not_an_object(self) -> None:
        """What is no JSON object is no opcode."""
        for raw in (None, 5, "OP_QUERY", ["OP_ID"]):
            self.assertIn("an opcode is a JSON object", self.refusal(raw))

    def test_unknown_parameter(self) -> None:
        """Parameters that an opcode does not have are refused in every opcode."""
        for op_id in OPCODES:
            expected = f"{op_id}: unknown parameter 'color'"
            self.check({**minimal(op_id), "color": "red"}, expected)

    def test_missing_parameter(self) -> None:
        """Each required parameter is demanded."""
        for op_id, fact in OPCODE_FACTS.items():
            for name in (name for name, param in fact["params"].items() if param["required"]):
                raw = minimal(op_id)
                del raw[name]
                self.check(raw, f"{op_id}: missing parameter '{name}'")

    def test_strict_wire(self) -> None:
        """A submission must bring what the queue demands, although it has a default."""
        for op_id, kind in OPCODES.items():
            full = {**minimal(op_id), **dict.fromkeys(kind.wire_required), "reason": []}
            self.assertIsInstance(decode(full, strict_wire=True), kind)
            for name in kind.wire_required:
                raw = {key: value for key, value in full.items() if key != name}
                self.assertIsInstance(decode(raw), kind)
                self.assertEqual(self.refusal(raw, strict_wire=True), f"{op_id}: missing parameter '{name}'")

    def test_path_into_lists_and_dicts(self) -> None:
        """The path goes down to the value at fault, also where the decoder leaves out the key."""
        disks = [{"size": 1}, {"mode": "rw", "size": None}]
        self.check({**CREATE, "disks": disks}, "OP_INSTANCE_CREATE.disks[1].size: expected int | str, got null")
        raw = {"OP_ID": "OP_CLUSTER_SET_PARAMS", "hvparams": {"kvm": {}, "lxc": 3}}
        self.check(raw, "OP_CLUSTER_SET_PARAMS.hvparams.lxc: expected object, got 3")
        nics = [["modify", "eth0", {"mac": None, "ip": 2}]]
        self.check({**MODIFY, "nics": nics}, "OP_INSTANCE_SET_PARAMS.nics[0][2].ip: expected str | null, got 2")

    def test_one_of_many_keys(self) -> None:
        """The key at fault is found in few tries, each of which reads the whole list: a client chooses how long both are."""
        tries: list[object] = []

        def counted(value: object, kind: Any) -> object:
            tries.append(value)
            return check(value, kind)

        raw = {**CREATE, "disks": [{f"key{number}": "a" for number in range(1000)} | {"bad": [1], "z": "a"}]}
        error = self.assertRaises(msgspec.ValidationError, msgspec.convert, raw, OpInstanceCreate, dec_hook=make_custom)
        told = describe_fault(OpInstanceCreate, raw, error, counted)
        self.assertEqual(told, "OP_INSTANCE_CREATE.disks[0].bad: expected int | str, got [1]")
        self.assertLess(len(tries), 20)

    def test_closed_sets_are_listed(self) -> None:
        """Where only certain words are allowed, they are listed."""
        self.check(
            {**CREATE, "file_driver": "tape"},
            'OP_INSTANCE_CREATE.file_driver: expected one of blktap, blktap2, loop, got "tape"',
        )
        self.check({**CREATE, "priority": 5}, "OP_INSTANCE_CREATE.priority: expected one of -10, 0, 10, got 5")
        allowed = "bridge, ip, link, mac, mode, name, network, vlan"
        self.check(
            {**CREATE, "nics": [{"color": "red"}]},
            f"OP_INSTANCE_CREATE.nics[0]: wrong key: expected one of {allowed}, got 'color'",
        )

    def test_secrets_stay_out(self) -> None:
        """A secret in the wrong place is not repeated."""
        for name in ("osparams_secret", "osparams_private"):
            for value in ("hunter2", ["hunter2"]):
                self.assertNotIn("hunter2", self.refusal({**CREATE, name: value}))
        raw = {"OP_ID": "OP_CLUSTER_SET_PARAMS", "osparams_private_cluster": {"debian": "hunter2"}}
        self.assertNotIn("hunter2", self.refusal(raw))
        mixed = {"OP_ID": "OP_INSTANCE_RECREATE_DISKS", "instance_name": "hunter2", "disks": [1, [2, {}]]}
        self.assertNotIn("hunter2", self.refusal(mixed))

    def test_refusals_are_short(self) -> None:
        """However long the wrong value, the refusal fits in a line."""
        for raw in (
            {**CREATE, "disks": "x" * 10000},
            {**CREATE, "x" * 10000: 1},
            {**CREATE, "disks": [{"x" * 10000: None}]},
            {**CREATE, "nics": [{"x\n" * 10000: None}]},
            {"OP_ID": "OP_NETWORK_ADD", "network_name": "n", "network": "1" * 10000},
        ):
            text = self.refusal(raw)
            self.assertNotIn("\n", text)
            self.assertLess(len(text), 300)


class AcceptanceTests(SynchronousTestCase):
    """What is accepted although it is not the canonical form."""

    def test_int_for_float(self) -> None:
        """An int given for a float becomes one."""
        op = decode({"OP_ID": "OP_TEST_DELAY", "duration": 3})
        self.assertEqual(op, OpTestDelay(duration=3.0))
        self.assertIsInstance(op.duration if isinstance(op, OpTestDelay) else None, float)

    def test_old_form_of_changes(self) -> None:
        """A change without an item modifies that index, or concerns the end of the list."""
        op = decode({**MODIFY, "disks": [["add", {"size": 5}], [2, {"mode": "ro"}], ["remove", {}]]})
        changes = (
            DiskChange(ChangeAction.ADD, -1, {"size": 5}),
            DiskChange(ChangeAction.MODIFY, 2, {"mode": "ro"}),
            DiskChange(ChangeAction.REMOVE, -1, {}),
        )
        self.assertEqual(op, OpInstanceSetParams(instance_name="web1", disks=changes))

    def test_input_is_left_alone(self) -> None:
        """Decoding changes nothing in what it was given."""
        raw = {**MODIFY, "nics": [["add", {"ip": "192.0.2.1"}]]}
        decode(raw)
        self.assertEqual(raw["nics"], [["add", {"ip": "192.0.2.1"}]])
