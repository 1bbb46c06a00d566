"""Arrays for programs that know those of OpenAPI 3.0."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.operations.plain_arrays import with_plain_arrays

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


class PlainArrayTests(SynchronousTestCase):
    """Every array says what it holds."""

    def test_anything(self) -> None:
        """An array of anything says so, also where it is one of several types."""
        self.assertEqual(with_plain_arrays({"type": "array"}), {"type": "array", "items": {}})
        self.assertEqual(with_plain_arrays({"type": ["array", "null"]})["items"], {})
        self.assertEqual(with_plain_arrays({"anyOf": ({"type": "array"},)})["anyOf"][0]["items"], {})

    def test_fixed(self) -> None:
        """One of so many items holds any of them, each kind told once."""
        pair = {"type": "array", "prefixItems": [TEXT, TEXT], "items": False, "minItems": 2, "maxItems": 2}
        self.assertEqual(with_plain_arrays(pair), {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2})
        mixed = {**pair, "prefixItems": [TEXT, NUMBER]}
        self.assertEqual(with_plain_arrays(mixed)["items"], {"anyOf": [TEXT, NUMBER]})

    def test_others_stay(self) -> None:
        """What says it already, and what is no array, stays as it is."""
        for schema in ({"type": "array", "items": TEXT}, TEXT, {"enum": ["array"]}, {"items": "data"}):
            self.assertEqual(with_plain_arrays(schema), schema)
