"""The stored form of opcodes, what of it is hidden from whom, and the summaries."""

import json

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.opcodes import (
    OPCODES,
    Disclosure,
    OpClusterQuery,
    OpClusterSetParams,
    OpGroupRename,
    OpInstanceReboot,
    OpInstanceReinstall,
    OpNodeRemove,
    OpQuery,
    OpTagsGet,
    OpTestDelay,
    Private,
    Secret,
    decode,
    encode,
    encode_as_sent,
    reveal,
    short_summary,
    summary,
)
from ganeti_tx.model.opcodes.types import JobQueryKind, RebootType
from ganeti_tx.test.model.opcodes.facts import minimal

REINSTALL = OpInstanceReinstall(
    instance_name="web1",
    osparams_private={"user": Private("hunter2")},
    osparams_secret={"password": Secret({"deep": "hunter3"})},
)


class StoredFormTests(SynchronousTestCase):
    """Which keys a stored opcode has."""

    def test_round_trip(self) -> None:
        """Each opcode survives the way through JSON text."""
        for op_id in OPCODES:
            op = decode(minimal(op_id))
            text = json.dumps(encode(op, Disclosure.WIRE))
            self.assertEqual(decode(json.loads(text), strict_wire=True), op)

    def test_null_parameters(self) -> None:
        """Of the parameters that are null only depends and comment are kept; defaults are filled in."""
        expected = {"OP_ID": "OP_CLUSTER_QUERY", "priority": 0, "depends": None, "comment": None, "reason": []}
        self.assertEqual(encode(OpClusterQuery()), expected)
        self.assertEqual(
            encode(OpClusterQuery(dry_run=True, debug_level=0)), {**expected, "dry_run": True, "debug_level": 0}
        )


class AsSentTests(SynchronousTestCase):
    """Several spellings stand for one meaning; that which was sent is kept."""

    def test_spelling(self) -> None:
        """Changes in the old form stay so, also when they are shown; nulls go, defaults come."""
        changes = {"disks": [["add", {"size": 1024}], [0, {"mode": "ro"}]], "nics": [["remove", -1, {}]]}
        sent = {"OP_ID": "OP_INSTANCE_SET_PARAMS", "instance_name": "web1", "reason": [], **changes}
        stored = encode_as_sent(decode(sent), {**sent, "runtime_mem": None}, Disclosure.STORED)
        self.assertEqual({name: stored[name] for name in sent}, sent)
        self.assertEqual(("runtime_mem" in stored, stored["wait_for_sync"]), (False, True))
        self.assertEqual(encode_as_sent(decode(stored), stored, Disclosure.PUBLIC), stored)
        self.assertEqual(decode(stored), decode(sent))

    def test_opcode(self) -> None:
        """Another name in the object never makes another opcode."""
        op = OpTestDelay(duration=1.0)
        sent = {"OP_ID": "OP_CLUSTER_DESTROY", "duration": 1}
        self.assertEqual(encode_as_sent(op, sent, Disclosure.WIRE)["OP_ID"], "OP_TEST_DELAY")

    def test_secrets(self) -> None:
        """What not everybody may see is never taken as it was sent."""
        sent = encode(REINSTALL, Disclosure.WIRE)
        for disclosure in Disclosure:
            self.assertEqual(encode_as_sent(REINSTALL, sent, disclosure), encode(REINSTALL, disclosure))


class DisclosureTests(SynchronousTestCase):
    """Private and secret parameters."""

    def test_public(self) -> None:
        """Anyone sees null for a private and a mark for a secret value."""
        public = encode(REINSTALL)
        self.assertEqual(public["osparams_private"], {"user": None})
        self.assertEqual(public["osparams_secret"], {"password": "<redacted>"})

    def test_stored(self) -> None:
        """The queue's files hold private values, and no secret one."""
        stored = encode(REINSTALL, Disclosure.STORED)
        self.assertEqual(stored["osparams_private"], {"user": "hunter2"})
        self.assertEqual(stored["osparams_secret"], {"password": "<redacted>"})

    def test_wire(self) -> None:
        """The daemon that runs the opcode gets all."""
        wire = encode(REINSTALL, Disclosure.WIRE)
        self.assertEqual(wire["osparams_secret"], {"password": {"deep": "hunter3"}})
        self.assertEqual(decode(wire), REINSTALL)

    def test_text_forms(self) -> None:
        """Neither kind shows itself in a text form, however deep it sits."""
        nested = OpClusterSetParams(osparams_private_cluster={"debian": {"user": Private("hunter2")}})
        for text in (repr(REINSTALL), str(REINSTALL), f"{REINSTALL!r:>5}", repr(nested), repr(Secret("hunter4"))):
            self.assertNotIn("hunter", text)
            self.assertIn("<redacted>", text)

    def test_reveal(self) -> None:
        """Who runs the OS scripts gets plain parameters."""
        self.assertEqual(reveal(REINSTALL.osparams_private), {"user": "hunter2"})
        self.assertEqual(reveal(None), {})

    def test_kinds_differ(self) -> None:
        """A private and a secret value are never the same."""
        self.assertNotEqual(Private(1), Secret(1))
        self.assertEqual(Secret(1), Secret(1))


class SummaryTests(SynchronousTestCase):
    """One line for the job lists."""

    def test_summary(self) -> None:
        """The OP_ID without its prefix, with the value that matters, if there is one."""
        reboot = OpInstanceReboot(instance_name="web1", reboot_type=RebootType.SOFT)
        self.assertEqual(summary(reboot), "INSTANCE_REBOOT(web1)")
        self.assertEqual(summary(OpGroupRename(group_name="a", new_name="b")), "GROUP_RENAME")
        self.assertEqual(summary(OpTestDelay(duration=1.5)), "TEST_DELAY(1.5)")
        self.assertEqual(summary(OpTagsGet(kind=TagKind.CLUSTER)), "TAGS_GET(None)")
        self.assertEqual(summary(OpQuery(what=JobQueryKind.OS, fields=("name",))), "QUERY(os)")

    def test_lists_are_joined(self) -> None:
        """A list in the summary is joined with commas."""

        class Several(OpQuery, tag="OP_SEVERAL"):
            """Shows a list."""

            summary_field = "fields"

        self.assertEqual(summary(Several(what=JobQueryKind.OS, fields=("a", "b"))), "SEVERAL(a,b)")

    def test_short_summary(self) -> None:
        """The four frequent nouns are abbreviated, the others not."""
        reboot = OpInstanceReboot(instance_name="web1", reboot_type=RebootType.SOFT)
        self.assertEqual(short_summary(reboot), "I_REBOOT(web1)")
        self.assertEqual(short_summary(OpNodeRemove(node_name="node1")), "N_REMOVE(node1)")
        self.assertEqual(short_summary(OpClusterQuery()), "C_QUERY")
        self.assertEqual(short_summary(OpGroupRename(group_name="a", new_name="b")), "G_RENAME")
        self.assertEqual(short_summary(OpTestDelay(duration=1.5)), "TEST_DELAY(1.5)")
