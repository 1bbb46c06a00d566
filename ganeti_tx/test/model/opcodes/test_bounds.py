"""Texts in opcodes have limits by what they are; a refusal names the parameter and does not repeat the text."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.opcodes import decode
from ganeti_tx.model.opcodes.bounds import LONGEST_NAME, LONGEST_PROSE, LONGEST_TEXT, LONGEST_VALUE, MOST_DEPENDENCIES
from ganeti_tx.test.model.opcodes.facts import minimal

CREATE = {**minimal("OP_INSTANCE_CREATE"), "reason": []}


class BoundTests(SynchronousTestCase):
    """Submissions."""

    def refused(self, expected: str, **given: Any) -> None:
        """It is, in a short line."""
        with self.assertRaises(OpPrereqError) as caught:
            decode({**CREATE, **given}, strict_wire=True)
        text = str(caught.exception)
        self.assertEqual((caught.exception.ecode, expected in text, len(text) < 500), (ECode.INVAL, True, True), text)

    def taken(self, **given: Any) -> None:
        """It is."""
        decode({**CREATE, **given}, strict_wire=True)

    def test_each_kind(self) -> None:
        """Names, texts, values of parameters, prose: each as long as it may be, and one character more."""
        for limit, given in (
            (LONGEST_NAME, lambda text: {"instance_name": text}),
            (LONGEST_NAME, lambda text: {"pnode": text}),
            (LONGEST_NAME, lambda text: {"os_type": text}),
            (LONGEST_TEXT, lambda text: {"src_path": text}),
            (LONGEST_TEXT, lambda text: {"disks": [{"adopt": text}]}),
            (LONGEST_VALUE, lambda text: {"osparams": {"key": text}}),
            (LONGEST_PROSE, lambda text: {"comment": text}),
            (LONGEST_PROSE, lambda text: {"reason": [["who", text, 1]]}),
        ):
            self.taken(**given("x" * limit))
            self.refused(f"{limit + 1} characters; allowed are {limit}", **given("x" * (limit + 1)))

    def test_dependencies(self) -> None:
        """A job waits for some thousands of others at most."""
        many = [[number, ["success"]] for number in range(1, MOST_DEPENDENCIES + 1)]
        self.taken(depends=many)
        self.refused("depends: 4097 jobs; allowed are 4096", depends=[*many, [9999, []]])

    def test_several(self) -> None:
        """What stands in another opcode has the same limits."""
        op = {
            "OP_ID": "OP_INSTANCE_MULTI_ALLOC",
            "reason": [],
            "instances": [{**CREATE, "osparams": {"k": "x" * 10_000}}],
        }
        decode(op, strict_wire=True)
        op["instances"][0]["osparams"]["k"] *= 100  # type: ignore[index]
        self.assertRaises(OpPrereqError, decode, op, strict_wire=True)

    def test_target_node(self) -> None:
        """A name is short; the list that says where a remote export goes has certificates in it."""
        move = {**minimal("OP_INSTANCE_FAILOVER"), "reason": []}
        decode({**move, "target_node": "x" * LONGEST_NAME}, strict_wire=True)
        self.assertRaises(OpPrereqError, decode, {**move, "target_node": "x" * 1000}, strict_wire=True)
        export = {
            **minimal("OP_BACKUP_EXPORT"),
            "reason": [],
            "target_node": [["host", 1, "magic", "x" * LONGEST_PROSE]],
        }
        decode(export, strict_wire=True)

    def test_names_of_os_parameters(self) -> None:
        """They become variables of an environment."""
        for name in ("a\nb", "a b", "a=b", "", "\x00"):
            self.refused("not a name of an OS parameter", osparams={name: "1"})
        self.refused("OP_INSTANCE_CREATE.osparams_private: not a name", osparams_private={"a\nb": "1"})
        self.refused("has 70000 characters; allowed are 255", osparams={"x" * 70000: "1"})
        self.taken(osparams={"dhcp-server.1": "yes"})

    def test_stored(self) -> None:
        """A job that was queued before there were limits can be read."""
        self.assertIsNotNone(decode({**CREATE, "comment": "x" * 1_000_000}))
