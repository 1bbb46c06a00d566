"""What a unit will do, known before anything is done: its steps in their order."""

from collections.abc import Sequence

import attrs


@attrs.frozen
class PlannedStep:
    """One step: a title that no other step of the plan has, and what it touches.

    @ivar nodes: the names of the nodes on which something is done.
    @ivar objects: what is changed, as "instance web1" or "cluster"; what an earlier step yields is named by that step.
    @ivar seconds: how long it takes at most, where that is known.
    """

    title: str
    nodes: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    seconds: float | None = None


Plan = Sequence[PlannedStep]


def described(plan: Plan, held: Sequence[str]) -> list[str]:
    """A plan as lines for the operator, with the locks that are held for it."""
    steps = [
        f"{number}. {step.title}"
        + (f" (on {', '.join(step.nodes)})" if step.nodes else "")
        + (f": {', '.join(step.objects)}" if step.objects else "")
        for number, step in enumerate(plan, 1)
    ]
    return [f"Locks: {', '.join(held) or 'none'}", *(steps or ["Nothing would be changed"])]
