"""The error tree is Ganeti's, and errors survive the wire."""

import json
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx import errors
from ganeti_tx.errors import (
    BY_NAME,
    ConfigVerifyError,
    ConfigVersionMismatch,
    ECode,
    ExitCode,
    GanetiError,
    GenericError,
    HooksAbort,
    JobQueueFull,
    OpExecError,
    OpPrereqError,
    ResolverError,
    X509CertError,
    decode_error,
    encode_error,
    error_text,
)

FACTS = json.loads((Path(__file__).parent / "model" / "facts" / "errors.json").read_text())
ODD_ARGS: list[list[object]] = [
    [],
    [None],
    [1],
    ["a"],
    [["a", 1]],
    [{"a": 1}],
    ["a", ["b"], "c"],
    ["a\nb", "nonsense"],
    ["a", 1],
]


class TreeTests(SynchronousTestCase):
    """Names, parents and codes against the table."""

    def test_same_classes(self) -> None:
        """Each exception of the table is there below the same parent, and there are no others."""
        declared = {name: kind.__bases__[0].__name__ for name, kind in BY_NAME.items()}
        expected = {
            name: fact["parent"].replace("Exception", "GanetiError") for name, fact in FACTS["exceptions"].items()
        }
        self.assertEqual(declared, expected)

    def test_nothing_escapes_the_wire(self) -> None:
        """Every class of the module below GanetiError has a wire name."""
        kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, GanetiError)}
        self.assertEqual(kinds - set(BY_NAME.values()), {GanetiError})

    def test_codes(self) -> None:
        """The error codes and exit codes have Ganeti's values."""
        self.assertEqual({f"ECODE_{code.name}": code.value for code in ECode}, FACTS["error_codes"])
        named = {f"EXIT_{code.name}": code.value for code in ExitCode if code is not ExitCode.CONFIGURATION}
        self.assertEqual(named, FACTS["exit_names"])


class WireTests(SynchronousTestCase):
    """[class name, [arguments]] and back."""

    def test_round_trip(self) -> None:
        """Class and arguments come back; the text is JSON."""
        for error in (
            OpPrereqError("no such instance: web1", ECode.NOENT),
            OpExecError("disk failed"),
            JobQueueFull(),
            ConfigVerifyError("wrong", ["a", "b"]),
            HooksAbort([["node1", "10-check", "no"]]),
            ResolverError("host", -2, "unknown"),
        ):
            wire = json.loads(json.dumps(encode_error(error)))
            again = decode_error(wire)
            self.assertIs(type(again), type(error))
            self.assertEqual(str(again), str(error))
            self.assertEqual(encode_error(again), wire)

    def test_wire_form(self) -> None:
        """The form is Ganeti's own."""
        wire = encode_error(OpPrereqError("taken", ECode.EXISTS))
        self.assertEqual(wire, ["OpPrereqError", ["taken", "already_exists"]])

    def test_code_survives(self) -> None:
        """The kind of a refusal is known at the other end; one without a known kind is a fault of the program."""
        again = decode_error(["OpPrereqError", ["gone", "unknown_entity"]])
        assert isinstance(again, OpPrereqError)
        self.assertIs(again.ecode, ECode.NOENT)
        for args in ODD_ARGS:
            odd = decode_error(["OpPrereqError", args])
            assert isinstance(odd, OpPrereqError)
            self.assertIs(odd.ecode, ECode.FAULT)

    def test_foreign_exceptions(self) -> None:
        """An exception of another tree crosses as a GenericError that names it."""
        self.assertEqual(encode_error(KeyError("x")), ["GenericError", ["KeyError: 'x'"]])

    def test_local_subclass(self) -> None:
        """A subclass that the wire does not know crosses as the nearest class that it knows."""

        class Special(OpExecError):
            """Local."""

        self.assertEqual(encode_error(Special("x")), ["OpExecError", ["x"]])

    def test_arguments_that_are_no_json(self) -> None:
        """What JSON cannot carry crosses as text."""
        wire = encode_error(OpExecError("x", KeyError("y"), (1, {2: b"z"})))
        self.assertEqual(wire, ["OpExecError", ["x", "'y'", [1, {"2": "b'z'"}]]])

    def test_decoding_never_raises(self) -> None:
        """Whatever comes becomes an error of the tree with a readable line."""
        odd: list[object] = [None, 5, "job rejected", [], ["a"], ["a", "b"], ["Unheard", ["x", 1]], {"a": 1}, [1, [2]]]
        for raw in odd:
            error = decode_error(raw)
            self.assertIs(type(error), GenericError)
            self.assertTrue(str(error))
        self.assertEqual(str(decode_error(["Unheard", ["of", 1]])), "Unheard: of: 1")
        self.assertEqual(str(decode_error("job rejected")), "job rejected")


class TextTests(SynchronousTestCase):
    """One clear line for a person."""

    def test_one_line_whatever_the_arguments(self) -> None:
        """Every class makes one line, and one that is not empty, of arguments that it does not expect."""
        for name in BY_NAME:
            for args in ODD_ARGS:
                self.assertNotIn("\n", error_text(decode_error([name, args])))
            self.assertTrue(error_text(decode_error([name, []])), name)

    def test_texts(self) -> None:
        """Classes with several arguments put them in words."""
        for error, text in (
            (OpPrereqError("no such\ninstance", ECode.NOENT), "no such instance"),
            (ConfigVerifyError("wrong", ["a", "b"]), "wrong: a; b"),
            (
                ConfigVersionMismatch(3000000, 2160000),
                "configuration version mismatch: expected 3000000, found 2160000",
            ),
            (HooksAbort([["node1", "10-check", "no"], ["node2", "x", "y"]]), "node1: 10-check: no; node2: x: y"),
            (ResolverError("host", -2, "unknown"), "cannot resolve 'host': unknown"),
            (X509CertError("/a.pem", "expired"), "certificate /a.pem: expired"),
            (
                JobQueueFull(),
                "the job queue is full: too many jobs wait or run; cancel some, or try again when some have ended",
            ),
            (OSError("disk"), "OSError: disk"),
            (ValueError(), "ValueError"),
        ):
            self.assertEqual(error_text(error), text)
