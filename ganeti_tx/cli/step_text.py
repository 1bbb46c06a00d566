"""What a job's log says of a step, in words."""

from collections.abc import Mapping
from typing import Any

#: The type of such log entries.
STEP = "step"


def step_text(payload: Mapping[str, Any]) -> str:
    """A payload as logic/steps.py writes it; whatever else some other version writes is shown as it is."""
    if not isinstance(payload, Mapping) or "title" not in payload:
        return str(payload)
    state, title = payload.get("state"), payload["title"]
    if "step" not in payload:
        return f"{str(state).capitalize()}: {title}"
    text = f"Step {payload['step']} of {payload.get('of')}: {title}"
    if nodes := payload.get("nodes"):
        text += f" (on {', '.join(nodes)})"
    if state != "begun":
        return f"{text}: {state}"
    left = payload.get("left")
    return text if left is None else f"{text}, at most {left:g} s"
