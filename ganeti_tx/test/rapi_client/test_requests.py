"""What the clients' methods send, against what Ganeti's own client library sends (facts/rapi.json)."""

import inspect
import json
import re
from typing import Any
from urllib.parse import parse_qsl

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.rapi_client.calls import Calls
from ganeti_tx.rapi_client.message import Message
from ganeti_tx.rapi_client.request import Request
from ganeti_tx.test.rapi import facts_table

FACTS = facts_table.FACTS["client_requests"]

#: Ours that send nothing of their own, or that are no method of the other library.
OTHERS = {
    "instance_allocation": "makes a part of a body",
    "wait_for_job_completion": "repeats wait_for_job_change",
    "wait_for_job": "repeats wait_for_job_change",
    "get_metrics": "this daemon's own",
    "get_openapi": "this daemon's own",
}
#: Required arguments where ours differ in number from the other library's.
EXTRA = {"evacuate_node": ("primary-only",)}


def our_name(name: str) -> str:
    """GetOSes -> get_oses."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


def arguments(name: str, signature: list[str]) -> list[Any]:
    """The required arguments as the facts have them."""
    required = [each for each in signature if "=" not in each and "*" not in each]
    special: dict[str, Any] = {
        "job_id": 0,
        "disk": 0,
        "role": "drained",
        "disk_template": "plain",
        "instances": [],
        "mode": "<mode>",
        "uuid": "<uuid>",
    }
    plural = {"tags", "disks", "nics", "nodes", "fields", "output_fields", "predicates"}
    return [special.get(each, [f"<{each}>"] if each in plural else f"<{each}>") for each in required]


def normal(body: Any) -> Any:
    """A body without what has no effect: nulls, an empty object, the reason trail with its times."""
    if not isinstance(body, dict):
        return body
    return {key: value for key, value in body.items() if value not in (None, "") and key != "reason"} or None


def sent(message: Message) -> tuple[str, str, list[tuple[str, str]], Any]:
    """Method, path, query and body."""
    path, _, query = message.target.partition("?")
    return message.method, path, parse_qsl(query), normal(json.loads(message.body) if message.body else None)


def expected(fact: dict[str, Any]) -> tuple[str, str, list[tuple[str, str]], Any]:
    """The same of a fact."""
    query = [(name, ",".join(value) if isinstance(value, list) else str(value)) for name, value in fact["query"] or ()]
    path = fact["path"].replace("<", "%3C").replace(">", "%3E")
    return fact["method"], path, query, normal(fact["body"])


class RequestTests(SynchronousTestCase):
    """Every method of the other library has its counterpart, which sends the same."""

    def test_every_method(self) -> None:
        """No method of the other library is missing."""
        missing = [name for name in FACTS if not hasattr(Calls, our_name(name))]
        self.assertEqual(missing, [])

    def test_requests(self) -> None:
        """With the required arguments alone, the same is sent."""
        for name, fact in FACTS.items():
            ours = our_name(name)
            if ours in OTHERS:
                continue
            args = [*arguments(ours, fact["signature"]), *EXTRA.get(ours, ())]
            request: Request[Any] = getattr(Calls, ours)(*args)
            theirs = expected(fact["minimal_request"][0])
            mine = sent(request.message)
            if ours in WHERE_WE_DIFFER:
                theirs = (*theirs[:2], *WHERE_WE_DIFFER[ours])
            self.assertEqual(mine, theirs, ours)

    def test_full_requests(self) -> None:
        """With every optional argument given, what changes something is the same too."""
        for name, fact in FACTS.items():
            ours = our_name(name)
            if ours in OTHERS or ours in NOT_ALIKE or fact["minimal_request"][0]["method"] == "GET":
                continue
            call = getattr(Calls, ours)
            given = optional_arguments(fact["signature"], inspect.signature(call).parameters)
            mine = sent(call(*arguments(ours, fact["signature"]), **given).message)
            theirs = expected(fact["full_request"][0])
            self.assertEqual((*mine[:2], sorted(mine[2]), mine[3]), (*theirs[:2], sorted(theirs[2]), theirs[3]), ours)

    def test_reason_and_dry_run(self) -> None:
        """Whatever submits a job takes a reason where the other library's method does, and a dry run likewise."""
        for name, fact in FACTS.items():
            ours = our_name(name)
            if ours in OTHERS or fact["minimal_request"][0]["method"] == "GET":
                continue
            keywords = inspect.signature(getattr(Calls, ours)).parameters
            for option in ("reason", "dry_run"):
                there = any(each.startswith(f"{option}=") for each in fact["signature"])
                if there and (ours, option) not in NO_JOB:
                    self.assertIn(option, keywords, ours)

    def test_jobs_are_not_safe(self) -> None:
        """What submits a job is never sent twice, and GETs that do not may be."""
        for name in ("get_operating_systems", "get_instance_info", "get_node_storage_units", "startup_instance"):
            self.assertFalse(getattr(Calls, name)(*["a", "lvm-pv", ["name"]][: required(name)]).safe, name)
        query: Any = Calls.get_instances()
        self.assertTrue(query.safe)

    def test_names_are_quoted(self) -> None:
        """No name leads out of its place in the path."""
        request: Any = Calls.get_instance("../nodes?x#y/é")
        self.assertEqual(request.message.target, "/2/instances/..%2Fnodes%3Fx%23y%2F%C3%A9")

    def test_names_that_are_none(self) -> None:
        """Without a name, or with one that leads to another path, nothing is sent: tags of ".." are the cluster's."""
        for name in ("", ".", "..", "\udc80"):
            for action in (Calls.delete_instance, Calls.get_node, Calls.get_job_status):
                self.assertRaises(OpPrereqError, action, name)
            self.assertRaises(OpPrereqError, Calls.add_instance_tags, name, ["a"])
        request: Any = Calls.get_instance("...")
        self.assertEqual(request.message.target, "/2/instances/...")

    def test_if_match(self) -> None:
        """A condition is sent as a header."""
        request: Any = Calls.modify_instance("web1", beparams={})
        self.assertIn(("If-Match", '"a"'), request.matching('"a"').message.headers)


#: Query and body of requests that other programs have no use for in the old form.
WHERE_WE_DIFFER: dict[str, tuple[list[tuple[str, str]], Any]] = {
    "add_node_tags": ([("tag", "<tags>")], None),  # the body repeats the query
    "evacuate_node": ([], {"mode": "primary-only"}),  # servers refuse it without
    "replace_instance_disks": ([], {"mode": "replace_auto"}),  # the query is the old form
}
#: Methods that take the option and do nothing with it, since they submit no job.
NO_JOB = {("cancel_job", "dry_run"), ("query", "reason"), ("migrate_node", "dry_run")}


#: Of these the facts tell no full request in values, or ours differ as said above.
NOT_ALIKE = {
    "add_node_tags",
    "cancel_job",
    "create_network",
    "evacuate_node",
    "migrate_node",
    "modify_network",  # ours takes a reason
    "modify_node_storage_units",  # ours sends numbers, as servers want them
    "query",  # the filter's old name is left out
    "reboot_instance",  # likewise
    "replace_instance_disks",
}
#: What is given as a number or a list.
FLAGS = {"dry_run", "force", "no_remember", "ignore_size"}


def optional_arguments(signature: list[str], taken: Any) -> dict[str, Any]:
    """A value for every optional argument of the other library that ours takes."""
    names = [each.partition("=")[0] for each in signature if "=" in each]
    special: dict[str, Any] = {"disks": ["<disks>"], "nodes": ["<nodes>"], "tags": ["<tags>"]}
    special |= dict.fromkeys(FLAGS, True)
    return {name: special.get(name, f"<{name}>") for name in names if name in taken}


def required(name: str) -> int:
    """How many arguments a method needs."""
    parameters = inspect.signature(getattr(Calls, name)).parameters.values()
    return sum(each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)
