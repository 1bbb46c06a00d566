"""Tests of the one rule for sizes."""

from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli import values
from ganeti_tx.model.params import backend
from ganeti_tx.model.params.kinds import to_size
from ganeti_tx.model.sizes import STEP, parse_size

FACTS = msgspec.json.decode(Path(__file__).with_name("facts").joinpath("sizes.json").read_bytes())

#: Those that Ganeti 3.0's command lines showed (instance syntax table, sizes), and some more.
SAMPLES: dict[str, int | None] = {
    **FACTS["samples"],
    "1.3M": 4,
    "2GiB": 2048,
    "4 mb": 4,
    "10G": 10240,
    "0.001g": 4,
    "4.000000000000001": 8,
    " 8 ": 8,
    **dict.fromkeys(("", "k", "1k", "-1", "abc", "default", "g", "1 2", "b", "ib", "٤", "1e3", "9" * 5000)),
}


class SizeTests(SynchronousTestCase):
    """What is a size, and which."""

    def test_samples(self) -> None:
        """Command lines and the cluster's parameters read each text alike."""
        for text, mebibytes in SAMPLES.items():
            self.assertEqual(parse_size(text), mebibytes, text)
            self.assertEqual(to_size(text), mebibytes, text)
            self.assertEqual(self.typed(text), mebibytes, text)

    def typed(self, text: str) -> Any:
        """As command lines read it."""
        try:
            return values.parse_size(text)
        except values.InvalidValue:
            return None

    def test_numbers(self) -> None:
        """Programs that give a number mean so many MiB."""
        self.assertEqual(backend.check_beparams({"maxmem": 129}), {"maxmem": 129})

    @given(st.integers(0, 10**12), st.integers(0, 10**6 - 1), st.sampled_from(["m", "g", "t"]))
    def test_never_less(self, whole: int, millionths: int, unit: str) -> None:
        """A size is never less than written, and less than a step more."""
        wanted = (whole * 10**6 + millionths) * {"m": 1, "g": 1024, "t": 1024**2}[unit]
        read = parse_size(f"{whole}.{millionths:06d}{unit}")
        assert read is not None
        self.assertIn(read * 10**6 - wanted, range(STEP * 10**6))
        self.assertEqual(read % STEP, 0)
