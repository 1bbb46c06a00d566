"""The page of what each hypervisor does has all of them, with all that there is to do."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase
from zope.interface.interface import InterfaceClass, Method

from ganeti_tx.model.hypervisors import AVAILABLE
from ganeti_tx.node.hypervisor import copying_interface, interfaces
from ganeti_tx.test.contracts import hypervisor_page as rows


class PageTests(SynchronousTestCase):
    """What its cells say is a matter of the contracts."""

    def test_whole(self) -> None:
        """Each hypervisor that nodes have has a cell in each row, and nothing else is there."""
        text = rows.PAGE.read_text()
        cells = rows.known(text)
        self.assertEqual([place for place in rows_and_columns() if place not in cells], [])
        self.assertEqual(text, rows.page(cells))

    def test_none_is_left_out(self) -> None:
        """Whatever a driver may be asked belongs to a row, and to one only."""
        named = [method for methods in rows.ROWS.values() for method in methods]
        self.assertEqual(sorted(named), sorted(methods_of_drivers()))

    def test_read_again(self) -> None:
        """What is written is what is read, empty cells and notes, too."""
        first, *_, last = [hypervisor.value for hypervisor in AVAILABLE]
        cells = {(rows.STOP, first): "done", (rows.STOP_AT_ONCE, last): "why not: 1. this", (rows.CONSOLE, last): "ssh"}
        self.assertEqual(rows.known(rows.page(cells)), cells)

    def test_noted(self) -> None:
        """Of what was noted on a machine without the page, a line for each test, each cell counts as it was found last."""
        notes = '["kvm", {"stop": "why not", "start": "done"}]\n["lxc", {"stop": "done"}]\n["kvm", {"stop": "done"}]\n'
        self.assertEqual(rows.noted(notes), {"kvm": {"stop": "done", "start": "done"}, "lxc": {"stop": "done"}})


def rows_and_columns() -> list[tuple[str, str]]:
    """All places of the table."""
    return [(row, hypervisor.value) for row in rows.ROWS for hypervisor in AVAILABLE]


def methods_of_drivers() -> list[str]:
    """Those of all interfaces to hypervisors."""
    modules = (interfaces, copying_interface)
    found: list[Any] = [
        each for module in modules for each in vars(module).values() if isinstance(each, InterfaceClass)
    ]
    return [
        f"{each.__name__}.{name}"
        for each in found
        if each.__module__ in [module.__name__ for module in modules]
        for name in each.names()
        if isinstance(each[name], Method)
    ]
