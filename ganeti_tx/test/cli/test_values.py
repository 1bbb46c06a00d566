"""Tests of text to values."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli import values
from ganeti_tx.cli.values import InvalidValue


class SizeTests(SynchronousTestCase):
    """Sizes with units."""

    def test_units(self) -> None:
        """A number is in mebibytes; m, g and t, also as mb or mib, in any case, say otherwise."""
        for text, mebibytes in {
            "512": 512, "512m": 512, "10G": 10240, "1.5g": 1536, "1T": 1048576, "2GiB": 2048, "4 mb": 4, "0": 0,
        }.items():  # fmt: skip
            self.assertEqual(values.parse_size(text), mebibytes, text)

    def test_rounds_up(self) -> None:
        """Sizes are multiples of 4 MiB, and never smaller than asked for."""
        self.assertEqual([values.parse_size(text) for text in ("1", "4", "5", "0.001g")], [4, 4, 8, 4])

    def test_refused(self) -> None:
        """What is no size is named, with what is allowed."""
        for text in ("12Q", "", "g", "-1", "1kb", "1 2", "b"):
            error = self.assertRaises(InvalidValue, values.parse_size, text)
            self.assertIn(f"invalid size {text!r}", str(error))

    def test_too_many_digits(self) -> None:
        """Numbers without end are refused, not computed."""
        endless = "9" * 5000
        for read in (values.parse_size, values.parse_int, values.parse_float):
            self.assertRaises(InvalidValue, read, endless)
        self.assertRaises(InvalidValue, values.parse_float, "nan")
        self.assertFalse(values.is_natural(endless))

    @given(st.integers(0, 10**9))
    def test_whole_mebibytes(self, mebibytes: int) -> None:
        """A whole number of mebibytes is rounded by less than 4."""
        self.assertIn(values.parse_size(str(mebibytes)) - mebibytes, range(4))


class KeyValueTests(SynchronousTestCase):
    """Lists of parameters."""

    def test_forms(self) -> None:
        """A bare key is true, no_ is false, - is null; all else is text."""
        self.assertEqual(
            values.parse_key_values("mem=512,acpi,no_pae,-vlan,a=b=c,e="),
            {"mem": "512", "acpi": True, "pae": False, "vlan": None, "a": "b=c", "e": ""},
        )

    def test_escapes(self) -> None:
        """A backslash takes the meaning from a comma."""
        self.assertEqual(values.parse_key_values(r"args=a\,b,c=\\d"), {"args": "a,b", "c": r"\d"})

    def test_empty(self) -> None:
        """Nothing is an empty dictionary."""
        self.assertEqual(values.parse_key_values(""), {})

    def test_refused(self) -> None:
        """Twice the same key, in any form, and a missing key are refused."""
        for text in ("a=1,a=2", "a,no_a", "a=1,-a", "=1", "a,,b"):
            self.assertRaises(InvalidValue, values.parse_key_values, text)

    @given(st.dictionaries(st.from_regex(r"[a-m]+", fullmatch=True), st.text(max_size=8), max_size=5))
    def test_round_trip(self, wanted: dict[str, str]) -> None:
        """Whatever stands in the values survives when commas and backslashes are escaped."""
        escaped = {key: value.replace("\\", "\\\\").replace(",", "\\,") for key, value in wanted.items()}
        self.assertEqual(values.parse_key_values(",".join(f"{k}={v}" for k, v in escaped.items())), wanted)


class IdentifiedTests(SynchronousTestCase):
    """Parameters of something named."""

    def test_forms(self) -> None:
        """The name stands before the colon; no_ and - in front of it take the thing away."""
        for text, wanted in {
            "0:size=1G,mode=rw": ("0", {"size": "1G", "mode": "rw"}),
            "kvm": ("kvm", {}),
            "kvm:": ("kvm", {}),
            "kvm:boot_order=cdrom:network": ("kvm", {"boot_order": "cdrom:network"}),
            "no_bridge": ("bridge", False),
            "-bridge": ("bridge", None),
            "-1:size=4": ("-1", {"size": "4"}),
        }.items():
            self.assertEqual(values.parse_identified(text), wanted, text)

    def test_refused(self) -> None:
        """A name is needed, and what is taken away has no parameters."""
        for text in ("", ":a=1", "no_x:a=1", "-x:a=1"):
            self.assertRaises(InvalidValue, values.parse_identified, text)

    def test_lists(self) -> None:
        """Groups are cut at //, the parts of a group at /."""
        self.assertEqual(
            values.parse_identified_lists("min:a=1/max:a=2//min:b=1"),
            [{"min": {"a": "1"}, "max": {"a": "2"}}, {"min": {"b": "1"}}],
        )


class SimpleTests(SynchronousTestCase):
    """Yes and no, numbers, lists."""

    def test_bool(self) -> None:
        """Yes, true, no and false in any case."""
        self.assertEqual(
            [values.parse_bool(text) for text in ("yes", "TRUE", "No", "false")], [True, True, False, False]
        )
        self.assertRaises(InvalidValue, values.parse_bool, "1")

    def test_list(self) -> None:
        """An empty text has no parts, an escaped comma does not cut."""
        self.assertEqual(
            [values.parse_list(text) for text in ("", "a,b", r"a\,b", "a,")], [[], ["a", "b"], ["a,b"], ["a", ""]]
        )

    def test_float_or_default(self) -> None:
        """The word default stays a word."""
        self.assertEqual([values.parse_float_or_default(text) for text in ("default", "1.5")], ["default", 1.5])
        self.assertRaises(InvalidValue, values.parse_float_or_default, "usual")

    def test_json(self) -> None:
        """What is no JSON is refused."""
        self.assertEqual(values.parse_json('{"a": [1]}'), {"a": [1]})
        self.assertRaises(InvalidValue, values.parse_json, "{a}")
