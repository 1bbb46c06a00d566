"""What the configuration daemons are asked, and what they must answer."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ganeti_tx.burnin.instances import Burned
from ganeti_tx.confd import questions
from ganeti_tx.confd.questions import Question

#: The newest answer of the master candidates. @raise GanetiError: there is none.
Ask = Callable[[Question[Any]], Any]


def wrong_answers(ask: Ask, master: str, nodes: Sequence[str], instances: Sequence[Burned]) -> Iterator[str]:
    """A line for each answer that is not as the master daemon has it."""
    ask(questions.ping())
    if (said := ask(questions.master_name())) != master:
        yield f"the master is {said}, and should be {master}"
    for node in nodes:
        ask(questions.node_role(node))
        there = {each["name"] for each in ask(questions.node_instances(node)).primary}
        missing = [each.name for each in instances if each.primary == node and each.name not in there]
        yield from (f"{name} is not on {node}" for name in missing)
    for instance in instances:
        if (count := len(ask(questions.instance_disks(instance.name)))) != instance.disks:
            yield f"{instance.name} has {count} disks, and should have {instance.disks}"
