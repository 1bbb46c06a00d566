"""What the predicates of filter rules say of jobs, and which are refused."""

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.opcodes import REDACTED
from ganeti_tx.queue.filters.predicates import check_predicates, read_predicate
from ganeti_tx.test.queue.filters.rules import NANOSECONDS, job, op

JOB = job(
    7,
    op("OP_INSTANCE_CREATE", "spring cleaning", instance_name="web1", disks=[{"size": 512}], tags=["a"], force=True),
    op("OP_TEST_DELAY", "night", "rate-limit:2:x", duration=1.5, priority=-10),
)


class MeaningTests(SynchronousTestCase):
    """Yes or no, always."""

    def says(self, kind: str, expression: object, watermark: int = 0) -> bool:
        """What a predicate says of the job."""
        return read_predicate(kind, expression, watermark)(JOB)

    def all_say(self, expected: bool, kind: str, *expressions: object) -> None:
        """All of them say so."""
        for expression in expressions:
            self.assertIs(self.says(kind, expression), expected, expression)

    def test_job_id(self) -> None:
        """The id is compared with numbers."""
        self.all_say(True, "jobid", ["==", "id", 7], ["=", "id", 7], [">", "id", 6], ["!", [">", "id", 7]], ["?", "id"])
        self.all_say(False, "jobid", ["!=", "id", 7], ["<", "id", 7], ["&", [">", "id", 1], ["<", "id", 2]])

    def test_watermark(self) -> None:
        """The word stands for the highest job id that there was when the rule was made, at any depth."""
        expression = ["|", ["&", [">", "id", "watermark"]]]
        self.assertTrue(self.says("jobid", expression, 6))
        self.assertFalse(self.says("jobid", expression, 7))

    def test_opcode(self) -> None:
        """One opcode must pass; all of its parameters can be looked at, also inside of objects and lists."""
        self.all_say(
            True, "opcode",
            ["==", "OP_ID", "OP_TEST_DELAY"], ["=~", "OP_ID", "CREATE$"], ["==", "instance_name", "web1"],
            ["==", "disks.0.size", 512], ["=[]", "tags", "a"], ["?", "force"], ["<", "duration", 2],
            ["&", ["==", "OP_ID", "OP_INSTANCE_CREATE"], ["==", "instance_name", "web1"]],
        )  # fmt: skip
        self.all_say(
            False, "opcode",
            ["==", "OP_ID", "OP_NODE_ADD"], ["=[]", "tags", "b"], ["==", "disks.1.size", 512], ["==", "OP_ID", "op"],
            ["&", ["==", "OP_ID", "OP_TEST_DELAY"], ["==", "instance_name", "web1"]],
        )  # fmt: skip

    def test_what_is_not_there(self) -> None:
        """A comparison with what an opcode does not have, or of another type, does not hold; its negation does."""
        absent = (["==", "node_name", "x"], [">", "node_name", "x"], ["=~", "node_name", "."], ["?", "node_name"])
        other = (["==", "force", 1], ["<", "instance_name", 3], ["=~", "duration", "1"], ["=[]", "instance_name", "w"])
        self.all_say(False, "opcode", *absent, *other, ["==", "instance_name.0", "w"])
        self.all_say(True, "opcode", *(["!", each] for each in (*absent, *other)), ["!=", "node_name", "x"])

    def test_reason(self) -> None:
        """One entry of any opcode's trail must pass."""
        self.all_say(
            True, "reason",
            ["==", "reason", "night"], ["=~", "reason", "^spring"], ["==", "source", "gnt:user"],
            [">=", "timestamp", NANOSECONDS], ["=~", "reason", "^rate-limit:"],
        )  # fmt: skip
        self.all_say(False, "reason", ["&", ["==", "reason", "night"], ["==", "source", "gnt:watcher"]])

    def test_priority(self) -> None:
        """That of the first opcode that has not been done."""
        self.all_say(True, "priority", ["==", "priority", 0], [">", "priority", -10])
        self.all_say(False, "priority", ["<", "priority", 0])

    def test_null(self) -> None:
        """No filter lets every job pass."""
        self.all_say(True, "opcode", None)

    def test_secrets(self) -> None:
        """What may not be seen of a job cannot be guessed by a rule either; what it is called can be seen."""
        inner = op(
            "OP_INSTANCE_CREATE", instance_name="web1", mode="create", disk_template="diskless", disks=[], nics=[],
            osparams_private={"pw": "hunter2"},
        ).input  # fmt: skip
        jobs = [
            job(1, op("OP_INSTANCE_SET_PARAMS", osparams_private={"pw": "hunter2"})),
            job(1, op("OP_INSTANCE_REINSTALL", osparams_secret={"pw": REDACTED}, osparams_private={"pw": "hunter2"})),
            job(1, op("OP_CLUSTER_SET_PARAMS", osparams_private_cluster={"pw": {"pw": "hunter2"}})),
            job(1, op("OP_INSTANCE_MULTI_ALLOC", instances=[inner])),
            job(1, op("OP_INSTANCE_OF_ANOTHER_VERSION", osparams_private={"pw": "hunter2"})),
        ]
        hiding = ("osparams_private", "osparams_private_cluster.pw", "instances.0.osparams_private")
        for each in jobs:
            for field in (f"{name}.pw" for name in hiding):
                for guess in (["=~", field, "^h"], ["==", field, "hunter2"], ["=[]", field, "hunter2"], ["?", field]):
                    self.assertFalse(read_predicate("opcode", guess, 0)(each), guess)
        self.assertTrue(read_predicate("opcode", ["=~", "osparams_secret.pw", "redacted"], 0)(jobs[1]))
        for number, field in ((0, "osparams_private"), (2, "osparams_private_cluster.pw"), (3, "instances.0")):
            self.assertTrue(read_predicate("opcode", ["?", field], 0)(jobs[number]), field)

    def test_broken_trail(self) -> None:
        """A job file with something else for a trail is no reason to fail."""
        odd = job(1, op(), op())
        odd.ops[0].input["reason"] = None
        odd.ops[1].input["reason"] = [[], ["x"], "text", 5]
        self.assertFalse(read_predicate("reason", ["==", "reason", "night"], 0)(odd))

    def test_signature(self) -> None:
        """Rules do not see who asked for a job over the Remote API."""
        signed = job(1, op())
        signed.ops[0].input["reason"] = [
            ["gnt:rapi:caller", "jack", 1],
            ["gnt:rapi:scopes", "x", 1],
            ["gnt:user", "night", 1],
        ]
        for source in ("gnt:rapi:caller", "gnt:rapi:scopes"):
            self.assertFalse(read_predicate("reason", ["==", "source", source], 0)(signed))
        self.assertFalse(read_predicate("reason", ["==", "reason", "jack"], 0)(signed))
        self.assertTrue(read_predicate("reason", ["==", "reason", "night"], 0)(signed))
        self.assertFalse(read_predicate("opcode", ["==", "reason.0.1", "jack"], 0)(signed))


class RefusalTests(SynchronousTestCase):
    """A bad predicate is refused with its place, its value and what is allowed."""

    def refused(self, predicate: object, *parts: str) -> None:
        """Refused as the second of two; the text names these parts."""
        error = self.assertRaises(OpPrereqError, check_predicates, [["jobid", [">", "id", 1]], predicate])
        text = str(error.args[0])
        for part in ("predicates[1]", *parts):
            self.assertIn(part, text)
        self.assertNotIn("\n", text)
        self.assertLess(len(text), 400)
        self.assertEqual(error.ecode, ECode.INVAL)

    def test_no_predicate(self) -> None:
        """It is a pair of a known kind and an expression."""
        for wrong in ("jobid", ["jobid"], [1, 2], {"jobid": 1}, ["jobid", None, None]):
            self.refused(wrong, "jobid, priority, opcode, reason")
        self.refused(["instance", ["==", "name", "x"]], "'instance'", "jobid, priority, opcode, reason")

    def test_unknown_field(self) -> None:
        """The fields that there are are named."""
        self.refused(["jobid", ["==", "number", 1]], "(jobid)", "'number'", "known are id")
        self.refused(["reason", ["==", "text", "x"]], "'text'", "source, reason, timestamp")
        self.refused(["opcode", ["==", "instance_nmae", "x"]], "'instance_nmae'", "OP_ID")
        self.refused(["opcode", ["==", "disks..size", 1]], "'disks..size'")

    def test_values(self) -> None:
        """What could never hold is refused."""
        self.refused(["jobid", ["==", "id", "seven"]], "'seven'", "integer or 'watermark'")
        self.refused(["priority", ["<", "priority", "watermark"]], "integer, not 'watermark'")
        self.refused(["reason", ["==", "source", 5]], "string")
        self.refused(["jobid", ["=~", "id", "1"]], "integer")
        self.refused(["reason", ["=[]", "reason", "x"]], "=[]")
        self.refused(["jobid", ["==", "id", 1.5]], "1.5")
        self.refused(["jobid", ["<", "id", 10**30]], str(2**63 - 1))

    def test_language(self) -> None:
        """Malformed expressions are refused as in queries."""
        self.refused(["jobid", ["<>", "id", 1]], "'<>'", "==")
        self.refused(["jobid", ["==", "id"]], "2 operands")
        self.refused(["jobid", "id == 1"], "not a filter")

    def test_costs(self) -> None:
        """Size, depth and the price of patterns are bounded."""
        deep: object = ["==", "id", 1]
        for _ in range(60):
            deep = ["!", deep]
        self.refused(["jobid", deep], "50 levels")
        self.refused(["jobid", ["|", *[["==", "id", 1]] * 1001]], "1000 terms")
        self.refused(["reason", ["=~", "reason", "(a+)+$"]], "repeats")
        self.refused(["reason", ["=~", "reason", "a.*b.*c.*d"]], "too costly")
        affordable = ["=~", "reason", "a.*b.*c"]
        check_predicates([["reason", affordable]])
        self.refused(["reason", ["|", *[affordable] * 8]], "or those before it are")
        self.refused(["reason", ["=~", "reason", "x" * 1001]], "1000")
        read_predicate("reason", ["|", *[affordable] * 8], 0)  # a rule from before is not left out for that

    def test_hostile_job(self) -> None:
        """A job's texts, which are its submitter's, cannot make a rule take long: what would is not found."""
        rule = read_predicate("reason", ["=~", "reason", "^a.*b.*c$"], 0)
        long = "ab" * 200
        for others, found in (([], True), ([long] * 60, False), ([long] * 5, True)):
            self.assertIs(rule(job(1, op("OP_TEST_DELAY", *others, f"{long}c"))), found)

    @settings(max_examples=200, deadline=None)
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
            | st.sampled_from(["==", "!", "&", "=~", "=[]", "id", "watermark", "reason", "OP_ID"]),
            lambda inner: st.lists(inner, max_size=4),
            max_leaves=12,
        ),
        st.sampled_from(["jobid", "opcode", "reason", "priority"]),
    )  # fmt: skip
    def test_anything(self, expression: object, kind: str) -> None:
        """Whatever comes is either refused or answers with yes or no."""
        try:
            test = read_predicate(kind, expression, 3)
        except OpPrereqError:
            return
        self.assertIn(test(JOB), (True, False))
