"""The page with what QEMU is told by each parameter, written from what these tests find."""

from pathlib import Path
from textwrap import indent

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.params.kinds import types_of
from ganeti_tx.node.hypervisor.kvm.parameters import faults
from ganeti_tx.test.contracts.operations_page import check, grid
from ganeti_tx.test.model.facts_table import FACTS
from ganeti_tx.test.node.hypervisor.kvm.command.behaviours import BEHAVIOURS
from ganeti_tx.test.node.hypervisor.kvm.command.everything import MACHINES, argv_of, text_of
from ganeti_tx.test.node.hypervisor.kvm.command.test_parameters_have_effect import EFFECTS, ELSEWHERE

PAGE = Path(__file__).parents[6] / "doc" / "kvm-arguments.rst"
FILES = Path("/srv/files")


class PageTests(SynchronousTestCase):
    """doc/kvm-arguments.rst"""

    def test_every_parameter(self) -> None:
        """The machines of the page have every parameter other than it is by itself, and nothing is wrong with them."""
        defaults, left = msgspec.to_builtins(KvmParams()), set(types_of(KvmParams))
        for _, make in MACHINES:
            params = make(FILES)
            left -= {name for name, value in params.items() if defaults.get(name) != value}
            self.assertEqual(
                faults(msgspec.convert({**defaults, "kernel_path": "", **params}, KvmParams), exists_all), []
            )
        # that one is on by itself, and needed by another
        self.assertEqual(left, {"vnet_hdr"})

    def test_arguments(self) -> None:
        """The page has the arguments of both."""
        for title, make in MACHINES:
            argv = argv_of(
                {"kernel_path": "", **make(FILES)}, run_as="nobody" if "security_domain" in make(FILES) else ""
            )
            lines = [title, "-" * len(title), "", ".. code-block:: text", "", indent(text_of(argv), "    "), ""]
            check("\n".join(lines), Path(f"kvm-{make.__name__}.rst"), PAGE)

    def test_table(self) -> None:
        """The page has what each parameter brings about."""
        known = FACTS["hypervisor_params"]["kvm"]
        rows = []
        for name in sorted(types_of(KvmParams)):
            if name in EFFECTS:
                value, needed, piece = EFFECTS[name]
                told = f"``{piece}``" if piece else "no serial port"
            elif name in BEHAVIOURS:
                each = BEHAVIOURS[name]
                value, needed, told = each.value, each.needed, f"beside the command line: ``{each.piece}``"
            else:
                value, needed, told = "", {}, ELSEWHERE[name]
            others = ", ".join(f"{other}={shown}" for other, shown in needed.items())
            rows.append([f"``{name}``", "" if name in known else "ours", str(value), others, told])
        check("\n".join(grid([["parameter", "", "value", "with", "brings about"], *rows])), Path("kvm-table.rst"), PAGE)


def exists_all(path: Path) -> bool:
    """A node that has every file."""
    return True
