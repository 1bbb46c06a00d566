"""What is asked of LUXI for queries, and what is made of its answers."""

from typing import Any

from ganeti_tx.errors import ECode, JobLost, OpPrereqError, QueryFilterParseError
from ganeti_tx.rapi.resources import jobs
from ganeti_tx.rapi.resources.os import MOST_WAITS
from ganeti_tx.test.rapi.calls import request
from ganeti_tx.test.rapi.case import JOB_ID, OperationCase
from ganeti_tx.test.rapi.facts_table import FACTS
from ganeti_tx.test.rapi.recording import RecordingLuxi

UUID = "b6d3f6a2-0d5e-4b9b-9f9c-2b6f3a1f0c11"
#: List, LUXI method, key of the name in references.
LISTS = (
    ("instances", "QueryInstances", "id"),
    ("nodes", "QueryNodes", "id"),
    ("groups", "QueryGroups", "name"),
    ("networks", "QueryNetworks", "name"),
)


def rows_of(**known: Any) -> Any:
    """Answers with one row; fields that are not known are null."""
    return lambda names, wanted, *rest: [[known.get(name) for name in wanted]]


class QueryCase(OperationCase):
    """Gives LUXI its answers."""

    def answer(self, **answers: Any) -> None:
        """What LUXI says from here on."""
        self.luxi = RecordingLuxi(answers)


class ListTests(QueryCase):
    """Lists and single items of the classic kind."""

    def test_references(self) -> None:
        """A list is names with their addresses, in order."""
        for noun, method, key in LISTS:
            self.answer(**{method: [["b"], ["a"]]})
            wanted = [{key: name, "uri": f"/2/{noun}/{name}"} for name in ("a", "b")]
            self.assertEqual(self.send("GET", f"/2/{noun}"), wanted)
            self.assertEqual(self.luxi.asked, [(method, [[], ["name"], False])])

    def test_bulk(self) -> None:
        """A bulk list is whole objects with the known fields."""
        for noun, method, _ in LISTS:
            self.answer(**{method: rows_of(name="one", beparams={})})
            (item,) = self.send("GET", f"/2/{noun}?bulk=1")
            self.assertEqual(item["name"], "one")
            for name in FACTS["field_sets"][noun[:-1]]:
                self.assertIn(name, item)

    def test_bulk_off(self) -> None:
        """Bulk may be given and be 0; other words are refused."""
        self.answer(QueryNodes=[["a"]])
        self.assertEqual(self.send("GET", "/2/nodes?bulk=0"), [{"id": "a", "uri": "/2/nodes/a"}])
        self.assertIn("bulk", self.refused("GET", "/2/nodes?bulk=all"))

    def test_single(self) -> None:
        """One item is an object; a lock that was asked for is not taken, since queries need none."""
        for noun, method, _ in LISTS:
            self.answer(**{method: rows_of(name="one", beparams={})})
            self.assertEqual(self.send("GET", f"/2/{noun}/one?lock=1")["name"], "one")
            ((_, (names, _, lock)),) = self.luxi.asked
            self.assertEqual((names, lock), (["one"], False))

    def test_nothing(self) -> None:
        """An item that is not there is not found, and named."""
        for noun, method, _ in LISTS:
            self.answer(**{method: []})
            self.assertIn("'one'", self.refused("GET", f"/2/{noun}/one", status=404))

    def test_memory(self) -> None:
        """Instances tell their memory under the name it had before there was a minimum."""
        self.answer(QueryInstances=rows_of(beparams={"maxmem": 512, "minmem": 128}))
        for item in (self.send("GET", "/2/instances/one"), *self.send("GET", "/2/instances?bulk=1")):
            self.assertEqual(item["beparams"], {"maxmem": 512, "minmem": 128, "memory": 512})

    def test_aliases(self) -> None:
        """Some values have a second name."""
        self.answer(QueryNodes=rows_of(sip="192.0.2.1"))
        self.assertEqual(self.send("GET", "/2/nodes/one")["secondary_ip"], "192.0.2.1")
        self.answer(QueryClusterInfo={"volume_group_name": "xenvg", "drbd_usermode_helper": "/bin/true"})
        info = self.send("GET", "/2/info")
        self.assertEqual((info["vg_name"], info["drbd_helper"]), ("xenvg", "/bin/true"))

    def test_role(self) -> None:
        """A role is told as a word."""
        for letter, word in FACTS["node_role_letters"].items():
            self.answer(QueryNodes=[[letter]])
            self.assertEqual(self.send("GET", "/2/nodes/one/role"), word)
        self.answer(QueryNodes=[])
        self.refused("GET", "/2/nodes/one/role", status=404)

    def test_statics(self) -> None:
        """Some answers never change."""
        self.assertEqual(self.send("GET", "/version"), 2)
        self.assertIsNone(self.send("GET", "/"))
        self.assertIsNone(self.send("GET", "/2"))
        self.assertEqual(sorted(self.send("GET", "/2/features")), sorted(FACTS["features"]))
        self.assertEqual(self.luxi.asked, [])

    def test_tags(self) -> None:
        """Tags are asked for by kind and name."""
        self.answer(QueryTags=["a"])
        self.assertEqual(self.send("GET", "/2/groups/default/tags"), ["a"])
        self.assertEqual(self.send("GET", "/2/tags"), ["a"])
        self.assertEqual([args for _, args in self.luxi.asked], [["nodegroup", "default"], ["cluster", ""]])


class ConsoleTests(QueryCase):
    """The way to a console."""

    def test_running(self) -> None:
        """Of a running instance it is told."""
        self.answer(QueryInstances=rows_of(console={"kind": "ssh"}, oper_state=True))
        self.assertEqual(self.send("GET", "/2/instances/one/console"), {"kind": "ssh"})

    def test_stopped(self) -> None:
        """A stopped one has none now, perhaps later."""
        self.answer(QueryInstances=rows_of(console=None, oper_state=False))
        self.assertIn("'one'", self.refused("GET", "/2/instances/one/console", status=503))

    def test_absent(self) -> None:
        """One that is not there is not found."""
        self.answer(QueryInstances=[])
        self.refused("GET", "/2/instances/one/console", status=404)


class JobTests(QueryCase):
    """Jobs."""

    def test_list(self) -> None:
        """Ids are numbers, in their order."""
        self.answer(QueryJobs=[["10"], [9]])
        wanted = [{"id": 9, "uri": "/2/jobs/9"}, {"id": 10, "uri": "/2/jobs/10"}]
        self.assertEqual(self.send("GET", "/2/jobs"), wanted)

    def test_bulk(self) -> None:
        """Whole jobs come without logs and results."""
        self.answer(QueryJobs=rows_of(id=9, status="success"))
        (job,) = self.send("GET", "/2/jobs?bulk=1")
        self.assertEqual(list(job), FACTS["field_sets"]["job_bulk"])

    def test_unknown(self) -> None:
        """A job that is not there has an id, and nothing else."""
        self.answer(QueryJobs=rows_of(id=9))
        job = self.send("GET", "/2/jobs/9")
        self.assertEqual(job, {**dict.fromkeys(FACTS["field_sets"]["job_single"]), "id": 9})

    def test_cancel(self) -> None:
        """Whether it was cancelled, and why not."""
        self.answer(CancelJob=[False, "Job 9 is no longer waiting"])
        self.assertEqual(self.send("DELETE", "/2/jobs/9"), [False, "Job 9 is no longer waiting"])
        self.assertEqual(self.luxi.asked, [("CancelJob", [9, False])])

    def wait(self, **more: Any) -> Any:
        """Wait for a change of job 9."""
        return self.send("GET", "/2/jobs/9/wait", {"fields": ["id", "status"], **more})

    def test_wait(self) -> None:
        """A change is told with the new log entries."""
        self.answer(WaitForJobChange=[[9, "running"], [[1, [5, 6], "message", "x"]]])
        answer = self.wait(previous_job_info=[9, "queued"], previous_log_serial=0)
        self.assertEqual(answer, {"job_info": [9, "running"], "log_entries": [[1, [5, 6], "message", "x"]]})
        ((_, sent),) = self.luxi.asked
        self.assertEqual(sent, [9, ["id", "status"], [9, "queued"], 0, jobs.LONGEST_WAIT])

    def test_no_change(self) -> None:
        """Where nothing is new, what is known is told once more; null when the master tells nothing."""
        self.answer(WaitForJobChange=[[9, "queued"], []])
        answer = self.wait(previous_job_info=[9, "queued"])
        self.assertEqual(answer, {"job_info": [9, "queued"], "log_entries": []})
        self.answer(WaitForJobChange="nochange")
        self.assertIsNone(self.wait(previous_job_info=[9, "queued"]))

    def test_gone(self) -> None:
        """A job that is gone is not found."""
        self.answer(WaitForJobChange=JobLost("job 9 is not in the queue"))
        self.refused("GET", "/2/jobs/9/wait", {"fields": ["id"]}, status=404)

    def test_wrong_wait(self) -> None:
        """A wait without fields, or of other types, is refused."""
        for body in (None, {}, {"fields": "id"}, {"fields": [1]}, {"fields": [], "since": 5}):
            self.assertIn("field", self.refused("GET", "/2/jobs/9/wait", body))
        told = self.refused("GET", "/2/jobs/9/wait", {"fields": ["id"], "previous_log_serial": "x"})
        self.assertIn("previous_log_serial", told)


class OsTests(QueryCase):
    """Operating systems are found out by a job, which is awaited."""

    def test_found(self) -> None:
        """Variants are spelled out; a system without any goes by its name."""
        states = iter([["queued", [None]], ["success", [[["debian", ["new", "old"]], ["noop", []]]]]])
        self.answer(SubmitJob=JOB_ID, WaitForJobChange=lambda *args: [next(states), []])
        self.assertEqual(self.send("GET", "/2/os"), ["debian+new", "debian+old", "noop"])
        (_, (ops,)), *waits = self.luxi.asked
        told = FACTS["resources"]["/2/os"]["GET"]["fixed"]
        self.assertEqual({name: ops[0][name] for name in told}, told)
        self.assertEqual(waits[1][1][2], ["queued", [None]])

    def test_failed(self) -> None:
        """A job that fails is told with its number."""
        self.answer(SubmitJob=JOB_ID, WaitForJobChange=[["error", []], []])
        self.assertIn(f"job {JOB_ID}", self.refused_after_submission("/2/os", 502))

    def test_too_long(self) -> None:
        """A job that does not end is not awaited for ever."""
        self.answer(SubmitJob=JOB_ID, WaitForJobChange=[["running", [None]], []])
        self.assertIn("running", self.refused_after_submission("/2/os", 504))
        self.assertEqual(len(self.luxi.asked), 1 + MOST_WAITS)

    def refused_after_submission(self, address: str, status: int) -> str:
        """The message of a refusal that comes when the job is there already."""
        error = self.failure("GET", address)
        self.assertEqual(error.status, status)
        return str(error)


class FilterTests(QueryCase):
    """Job filter rules."""

    def test_list(self) -> None:
        """Rules are listed by uuid, or whole."""
        self.answer(QueryFilters=rows_of(uuid=UUID, priority=3))
        self.assertEqual(self.send("GET", "/2/filters"), [{"uuid": UUID, "uri": f"/2/filters/{UUID}"}])
        (rule,) = self.send("GET", "/2/filters?bulk=1")
        self.assertEqual(list(rule), FACTS["field_sets"]["filter"])
        self.assertEqual(self.send("GET", f"/2/filters/{UUID}"), rule)

    def test_absent(self) -> None:
        """A rule that is not there is not found, whether read or removed."""
        self.answer(QueryFilters=[], DeleteFilter=OpPrereqError("filter rule is not known", ECode.NOENT))
        self.refused("GET", f"/2/filters/{UUID}", status=404)
        self.refused("DELETE", f"/2/filters/{UUID}", status=404)

    def test_put(self) -> None:
        """What a body leaves out has its default; other keys are refused."""
        self.answer(ReplaceFilter=UUID)
        self.assertEqual(self.send("POST", "/2/filters"), UUID)
        rule = {
            "priority": 2,
            "predicates": [["user", ["=", "x"]]],
            "action": ["RATE_LIMIT", 3],
            "reason": [["a", "b", 1]],
        }
        self.assertEqual(self.send("PUT", f"/2/filters/{UUID}", rule), UUID)
        self.assertEqual(
            [args for _, args in self.luxi.asked],
            [[None, 0, [], "CONTINUE", []], [UUID, *rule.values()]],
        )
        self.assertEqual(
            self.refused("POST", "/2/filters", {"colour": "red"}),
            "Object contains unknown field 'colour'; allowed are priority, predicates, action, reason",
        )
        self.assertEqual(
            self.refused("POST", "/2/filters", {"priority": "high"}), "priority: Expected 'int', got 'str'"
        )


class GeneralQueryTests(QueryCase):
    """Queries in LUXI's terms."""

    def test_fields_argument(self) -> None:
        """Fields are an argument of a plain query, and one must be there."""
        self.answer(Query={"fields": [], "data": []})
        self.assertEqual(self.send("GET", "/2/query/node?fields=name,role"), {"fields": [], "data": []})
        self.assertEqual(self.luxi.asked, [("Query", ["node", ["name", "role"], None])])
        self.assertIn("fields", self.refused("GET", "/2/query/node"))
        self.assertIn("known are export,", self.refused("GET", "/2/query/planet?fields=name", status=404))

    def test_filter(self) -> None:
        """The filter has an old name; the fields may be an argument here too."""
        self.answer(Query={"fields": [], "data": []})
        condition = ["=", "name", "one"]
        self.send("PUT", "/2/query/node", {"fields": ["name"], "qfilter": condition})
        self.send("PUT", "/2/query/node?fields=name", {"filter": condition})
        self.assertEqual([args for _, args in self.luxi.asked], [["node", ["name"], condition]] * 2)
        self.assertIn("qfilter", self.refused("PUT", "/2/query/node", {"fields": ["name"], "qfilter": "x"}))

    def test_repeated_fields(self) -> None:
        """No field is told so often that the answer gets as large as who asks likes; nor of a job that is awaited."""
        self.answer(Query={"fields": [], "data": []})
        self.send("GET", "/2/query/job?fields=id,ops,ops")
        names = ["ops"] * 4
        told = "field 'ops' is asked for 4 times; allowed are 3"
        self.assertEqual(self.refused("GET", "/2/query/job?fields=ops,ops,ops,ops"), told)
        self.assertEqual(self.refused("PUT", "/2/query/job", {"fields": names}), told)
        self.assertEqual(self.refused("GET", "/2/jobs/9/wait", {"fields": names}), told)
        self.assertEqual(len(self.luxi.asked), 0)

    def test_definitions(self) -> None:
        """Without names all fields are told."""
        self.answer(QueryFields={"fields": []})
        self.send("GET", "/2/query/node/fields")
        self.send("GET", "/2/query/node/fields?fields=name,role")
        self.assertEqual([args for _, args in self.luxi.asked], [["node", None], ["node", ["name", "role"]]])


class RefusalTests(QueryCase):
    """What the master refuses because of the request."""

    def test_wrong_and_unknown(self) -> None:
        """What another request would avoid is 400, what is not there is 404; the rest is the master's own error."""
        for error, status in (
            (OpPrereqError("unknown node field 'x'", ECode.INVAL), 400),
            (OpPrereqError("Network 'lan' not found", ECode.NOENT), 404),
            (QueryFilterParseError("unknown operator"), 400),
        ):
            self.answer(Query=error, QueryTags=error)
            for address in ("/2/query/node?fields=name", "/2/networks/lan/tags"):
                failure = self.failure("GET", address)
                self.assertEqual((failure.status, str(failure)), (status, str(error.args[0])))

    def test_jobs_that_are_not_there(self) -> None:
        """What a body refers to is not what the path names: a job that depends on nothing is a bad request."""
        self.answer(SubmitJob=OpPrereqError("cannot depend on job 5: there is none", ECode.NOENT))
        self.assertEqual(self.failure("PUT", "/2/redistribute-config").status, 400)

    def test_state(self) -> None:
        """An error of another kind stays what it is."""
        self.answer(QueryTags=OpPrereqError("not now", ECode.STATE))
        call = request(self.luxi, "GET", "/2/tags")
        with self.assertRaises(OpPrereqError):
            call.operation.run(call).send(None)  # type: ignore[attr-defined]

    def test_numbers_without_end(self) -> None:
        """A number that nothing counts up to is not there."""
        digits = "9" * 5000
        self.answer()
        for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/wait")):
            self.refused(method, f"/2/jobs/{digits}{path}", {"fields": ["id"]}, status=404)
        self.refused("POST", f"/2/instances/web1/disk/{digits}/grow", {"amount": 1}, status=404)
