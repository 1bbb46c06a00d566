"""What is asked for may be called by its whole name, a short one, or its uuid, in every kind of query."""

from collections.abc import Iterator

from ganeti_tx.rpc.calls.backup import ExportList
from ganeti_tx.test.query.case import QueryCase

#: What is asked for, and each way to call it.
WAYS = {
    "instance": ("web1.example.com", "web1", "inst-uuid", "WEB1.example.com"),
    "node": ("node1.example.com", "node1", "node1-uuid", "NODE1"),
    "group": ("default", "group-uuid"),
    "network": ("lan", "net-uuid"),
    "export": ("node1.example.com", "node1", "node1-uuid"),
}


class NameTests(QueryCase):
    """The sample cluster."""

    def setUp(self) -> None:
        super().setUp()
        self.rpc.answer(ExportList, ["web1.example.com"])

    def ways(self) -> Iterator[tuple[str, str, str, str]]:
        """A resource, its name field, the whole name, and one way to say it."""
        for what, (whole, *others) in WAYS.items():
            for way in (whole, *others):
                yield what, self.queries.resources[what].name_field, whole, way

    def test_new(self) -> None:
        """By a filter of nothing but the name."""
        for what, key, whole, way in self.ways():
            self.assertEqual(self.column(what, key, ["==", key, way]), [(0, whole)], f"{what} {way}")
            self.assertEqual(self.column(what, key, ["|", ["==", key, way]]), [(0, whole)], f"{what} {way}")

    def test_classic(self) -> None:
        """By the names of a classic query."""
        for what, key, whole, way in self.ways():
            self.assertEqual(self.classic(what, [way], [key]), [[whole]], f"{what} {way}")
