"""What of an answer arrives on the other side."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError, ECode, GanetiError, GenericError, OpPrereqError
from ganeti_tx.model.hooks import HookPhase, HookResult, HookStatus
from ganeti_tx.model.storage_unit import UnitState
from ganeti_tx.rpc.calls.administration import RestrictedCommand
from ganeti_tx.rpc.calls.hooks import HooksRunner
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams
from ganeti_tx.rpc.calls.keys import SshMakeKey
from ganeti_tx.rpc.calls.node import NodeCryptoTokens, NodeVerify, Version
from ganeti_tx.rpc.calls.os import OsDiagnose, OsReport
from ganeti_tx.rpc.calls.storage import StorageList
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.rpc.refusals import KINDS, BadArguments
from ganeti_tx.rpc.wire import decode_answer, decode_call, encode_call, encode_failure, encode_success

#: A list in a list in a list ...
TOO_DEEP = b"\x91" * 100_000 + b"\xc0"


class ErrorTests(SynchronousTestCase):
    """The node's own error, seen by the caller."""

    def arrives(self, error: GanetiError) -> NodeCallError:
        """An error as it arrives."""
        with self.assertRaises(NodeCallError) as caught:
            decode_answer("node1", Version(), encode_failure(error))
        return caught.exception

    def test_class(self) -> None:
        """It has the class that it left as, with its arguments, and its text after the node's name."""
        for error in (BlockDeviceError("no room"), OpPrereqError("no", ECode.NORES), *(kind("no") for kind in KINDS)):
            found = self.arrives(error)
            self.assertIs(type(found.cause), type(error))
            self.assertEqual((found.cause.args, str(found)), (error.args, f"node node1: {error}"))

    def test_unknown_class(self) -> None:
        """An error of another version's class is one of Ganeti's nearest, or a generic one with its words."""

        class Newer(BlockDeviceError):
            pass

        self.assertIs(type(self.arrives(Newer("no room")).cause), BlockDeviceError)
        for body in (b"\x92\xc2\x92\xa7Unknown\x91\xa2no", b"\x92\xc2\xa2no"):
            with self.assertRaises(NodeCallError) as caught:
                decode_answer("node1", Version(), body)
            self.assertIs(type(caught.exception.cause), GenericError)
            self.assertIn("no", str(caught.exception))

    def test_no_answer(self) -> None:
        """What is neither a result nor an error leaves open what the node has done."""
        for body in (b"", b"junk", b"\x92\xc3\xa1x", b"\x92\xc3" + TOO_DEEP, b"\x92\xc2" + TOO_DEEP):
            with self.assertRaises(NodeUnreachableError):
                decode_answer("node1", Version(), body)

    def test_line_ends(self) -> None:
        """What people are told is on one line in an error, and in an answer that is in lines; other texts stay as they are."""
        self.assertEqual(str(self.arrives(BlockDeviceError("no\nroom"))), "node node1: no room")
        report = OsReport("os", "/srv/a  b", False, "bad\nOS\r\n", [], [("key", "first\u2028second")], [20])
        (found,) = decode_answer("node1", OsDiagnose(), encode_success([report]))
        self.assertEqual((found.path, found.diagnose), ("/srv/a  b", "bad\\nOS"))
        self.assertEqual(found.parameters, [("key", "first\\nsecond")])
        for end in "\n", "\r\n", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028", "\u2029":
            state = UnitState(name=f"a{end}b", size=10, used=13, free=28)
            (unit,) = decode_answer("node1", StorageList(storage_type="file"), encode_success([state]))
            self.assertEqual((unit.name, unit.size, unit.used, unit.free), ("a\\nb", 10, 13, 28), repr(end))
        output = RestrictedCommand(command="df")
        self.assertEqual(decode_answer("node1", output, encode_success("a\nb\n")), "a\nb\n")

    def test_one_word(self) -> None:
        """What the configuration keeps of a node cannot bring in a line about another one, or another key."""
        for odd in "AA:BB\nnode1=CC", "AA node1", "AA=BB", "", "A" * 500:
            with self.assertRaises(NodeUnreachableError):
                decode_answer("node2", NodeCryptoTokens(), encode_success([("server", odd)]))
        for odd in 'command="id" ssh-rsa AAAA', "ssh-rsa AAAA\nssh-rsa BBBB", "ssh-rsa AAAA root@node1", "":
            with self.assertRaises(NodeUnreachableError):
                decode_answer("node2", SshMakeKey(root_type="rsa", root_bits=2048), encode_success(odd))
        hook = HooksRunner(hpath="node-add", phase=HookPhase.PRE, env={})
        for odd in "10-check\nERROR: all is lost", "\x1b[2J", "":
            with self.assertRaises(NodeUnreachableError):
                decode_answer("node2", hook, encode_success([HookResult(odd, HookStatus.FAIL)]))
        self.assertEqual(
            decode_answer("node2", NodeCryptoTokens(), encode_success([("ssl", "AA:0F")])), [("ssl", "AA:0F")]
        )

    def test_odd_lines(self) -> None:
        """An answer in lines is as strict as others: of another type, or no answer at all, it leaves open what was done."""
        for body in (
            b"",
            b"\x92\xc3\xa1x",
            b"\x92\xc3" + TOO_DEEP,
            b"\x92\xc3\x81\x91\x80\x01",
            b"\x92\xc3\x81\x91\x91\x01\x01",
        ):
            for call in (OsDiagnose(), NodeVerify(checks={}, cluster_name="c")):
                with self.assertRaises(NodeUnreachableError):
                    decode_answer("node1", call, body)

    def test_no_text(self) -> None:
        """Names of files that are no text arrive in an error, and in a result, with escapes in their place."""
        name = "bad\udcff"
        self.assertEqual(self.arrives(OpPrereqError(name, ECode.NOENT)).cause.args, ("bad\\udcff", ECode.NOENT))
        report = OsReport(name, name, False, "", [name], [(name, "")], [20], True)
        (found,) = decode_answer("node1", OsDiagnose(), encode_success([report]))
        self.assertEqual((found.name, found.variants, found.api_versions), ("bad\\udcff", ["bad\\udcff"], [20]))


class CallTests(SynchronousTestCase):
    """What comes instead of a call."""

    def test_too_deep(self) -> None:
        """A call with arguments that are nested without end is refused like another that is none."""
        call = encode_call(HypervisorValidateParams(hypervisor="kvm", hvparams={"a": 77}))
        for body in (TOO_DEEP, call.replace(b"\xa1a\x4d", b"\xa1a" + TOO_DEEP)):
            self.assertRaises(BadArguments, decode_call, HypervisorValidateParams, body)
