"""The rules of roles as pure functions."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.node.roles import FLAGS, Role, asked_role, lacking, may_be_promoted, role_of, with_role
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpNodeSetParams
from ganeti_tx.test.model.samples import NODE2

ASKED = st.sampled_from([None, True, False])


class RolesTests(SynchronousTestCase):
    """Role, and what an opcode makes of it."""

    def test_one_flag(self) -> None:
        """A role sets its own flag and no other, whatever was set before."""
        for flags in product((True, False), repeat=3):
            node = replace(NODE2, **dict(zip(FLAGS, flags, strict=True)))
            for role in Role:
                after = with_role(node, role)
                self.assertEqual([flag for flag in FLAGS if getattr(after, flag)], [role.value] if role.value else [])
                self.assertIs(role_of(after), role)

    @given(st.sampled_from(Role), ASKED, ASKED, ASKED)
    def test_asked(self, before: Role, candidate: bool | None, drained: bool | None, offline: bool | None) -> None:
        """A flag that is set is the role; one that is taken away leaves a regular node; else nothing changes."""
        op = OpNodeSetParams(node_name="node2", master_candidate=candidate, drained=drained, offline=offline)
        after = asked_role(with_role(NODE2, before), op)
        wanted = [role for role in Role if role.value and getattr(op, role.value)]
        if wanted:
            self.assertIn(after, wanted)
        elif before.value and getattr(op, before.value) is False:
            self.assertIs(after, Role.REGULAR)
        else:
            self.assertIs(after, before)

    @given(st.lists(st.tuples(st.sampled_from(Role), st.booleans()), max_size=6), st.integers(1, 6))
    def test_lacking(self, states: list[tuple[Role, bool]], size: int) -> None:
        """So many are lacking that promoting them fills the pool, or leaves nobody to promote."""
        nodes: list[Node] = [
            with_role(replace(NODE2, master_capable=capable or role is Role.CANDIDATE), role)
            for role, capable in states
        ]
        wanted = lacking(nodes, size)
        able = [node for node in nodes if may_be_promoted(node)]
        candidates = sum(node.master_candidate for node in nodes)
        self.assertLessEqual(wanted, len(able))
        self.assertTrue(candidates + wanted >= size or wanted == len(able))
        self.assertTrue(wanted == 0 or candidates + wanted <= size)
