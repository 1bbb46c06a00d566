"""The table of methods against the table of facts, and the checks of arguments."""

import json
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BY_NAME, ECode, OpPrereqError
from ganeti_tx.luxi import timeouts, transport_errors
from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.luxi.calls import Calls
from ganeti_tx.luxi.framing import TERMINATOR
from ganeti_tx.luxi.messages import CLIENT_VERSION
from ganeti_tx.luxi.method_table import Effect
from ganeti_tx.luxi.methods import METHODS
from ganeti_tx.luxi.own_methods import ALL_METHODS

FACTS = json.loads((Path(__file__).parent / "facts" / "luxi.json").read_text())

#: One call of each method as the clients have it: arguments, a result of the type promised.
CALLS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "submit_job": (([{"OP_ID": "OP_TEST_DELAY"}],), 3),
    "submit_job_to_drained_queue": (([],), 3),
    "submit_many_jobs": (([[], [{"OP_ID": "OP_TEST_DELAY"}]],), [[True, 1], [True, 2]]),
    "wait_for_job_change": ((3, ["status"], None, None, 10), [["running"], []]),
    "pickup_job": ((3,), None),
    "cancel_job": ((3,), [True, "done"]),
    "change_job_priority": ((3, -5), [True, "done"]),
    "archive_job": (("3",), True),
    "auto_archive_jobs": ((-1,), [4, 0]),
    "query": (("node", ["name"], ["=", "name", "a"]), {"fields": [], "data": []}),
    "query_fields": (("node",), {"fields": []}),
    "query_jobs": ((["1", 2], ["status"]), [["success"], [None]]),
    "query_filters": ((None, ["uuid"]), []),
    "query_instances": (([], ["name"]), []),
    "query_nodes": (([], ["name"]), []),
    "query_groups": (([], ["name"]), []),
    "query_networks": (([], ["name"]), []),
    "query_exports": (([],), []),
    "query_config_values": ((["cluster_name"],), ["c"]),
    "query_cluster_info": ((), {"name": "c"}),
    "query_tags": (("cluster",), ["a"]),
    "set_drain_flag": ((True,), True),
    "set_watcher_pause": ((12.5,), 12.5),
    "replace_filter": ((None, 0, [["jobid", [">", "id", "watermark"]]], "PAUSE", [["gnt:user", "x", 1]]), "uuid"),
    "delete_filter": (("uuid",), None),
}


def wire_name(name: str) -> str:
    """The method a client function calls."""
    return name.title().replace("_", "")


class RecordingCalls(Calls):
    """Keeps what is called, answers what it was told."""

    def __init__(self, result: Any) -> None:
        self.calls: list[tuple[str, list[Any]]] = []
        self._result = result

    def call(self, method: str, args: list[Any]) -> Any:
        self.calls.append((method, args))
        return self._result


class RecordingAsyncCalls(AsyncCalls):
    """The same without blocking."""

    def __init__(self, result: Any) -> None:
        self.calls: list[tuple[str, list[Any]]] = []
        self._result = result

    async def call(self, method: str, args: list[Any]) -> Any:
        self.calls.append((method, args))
        return self._result


class FactTests(SynchronousTestCase):
    """What other programs rely on."""

    def test_methods_and_arguments(self) -> None:
        """The table has exactly the methods of Ganeti, each with its arguments in their order."""
        ours = {name: [param.meaning for param in METHODS[name].params] for name in METHODS.names}
        self.assertEqual(ours, {name: entry["args"] for name, entry in FACTS["methods"].items()})

    def test_effects(self) -> None:
        """What only tells or waits says so by its name."""
        begun = {Effect.TELLS: "Query", Effect.WAITS: "WaitFor"}
        for each in ALL_METHODS:
            by_name = next((effect for effect, word in begun.items() if each.name.startswith(word)), Effect.CHANGES)
            self.assertIs(each.effect, by_name, each.name)

    def test_constants(self) -> None:
        """Terminator, version and time-outs are Ganeti's."""
        waits = FACTS["timeouts"]
        self.assertEqual(TERMINATOR, bytes([FACTS["framing"]["terminator_byte"]]))
        self.assertEqual(CLIENT_VERSION, FACTS["request"]["client_version"])
        self.assertEqual(timeouts.CONNECT, waits["connect_s"])
        self.assertEqual(timeouts.READ_WRITE, waits["read_write_s"])
        self.assertEqual(timeouts.SERVER_IDLE, waits["server_idle_close_s"])
        self.assertEqual(timeouts.WAIT_FOR_JOB_CHANGE_CAP, waits["wait_for_job_change_cap_s"])
        self.assertEqual(timeouts.CLIENT_POLL, waits["client_poll_default_s"])
        self.assertEqual(timeouts.AUTO_ARCHIVE, waits["auto_archive_timeout_sent_s"])
        self.assertEqual(timeouts.CANCEL_JOB, waits["cancel_job_s"])

    def test_error_classes(self) -> None:
        """Every class that may come over the wire is known, and every class a client raises itself is there."""
        self.assertEqual(set(FACTS["errors"]["wire_classes"]) - set(BY_NAME), set())
        missing = [
            name
            for name in FACTS["errors"]["transport_errors_raised_in_client"]
            if name not in BY_NAME and not hasattr(transport_errors, name)
        ]
        self.assertEqual(missing, [])


class ClientCallTests(SynchronousTestCase):
    """The typed functions of both clients."""

    def test_each_method_has_its_function(self) -> None:
        """Both clients have one function a method, whose description can be read there."""
        self.assertEqual([wire_name(name) for name in CALLS], list(METHODS.names))
        for name in CALLS:
            declared = getattr(Calls, name)
            self.assertIs(declared, getattr(AsyncCalls, name))
            self.assertEqual(declared.method, METHODS[wire_name(name)])
            for client in (RecordingCalls(None), RecordingAsyncCalls(None)):
                function = getattr(client, name)
                self.assertEqual((function.__name__, function.__doc__), (name, declared.__doc__))

    def test_what_clients_send_is_what_servers_take(self) -> None:
        """The arguments each function sends pass the server's check, and the result comes back."""
        for name, (args, result) in CALLS.items():
            blocking, waiting = RecordingCalls(result), RecordingAsyncCalls(result)
            self.assertEqual(getattr(blocking, name)(*args), result)
            coroutine = getattr(waiting, name)(*args)
            done = self.assertRaises(StopIteration, coroutine.send, None)
            self.assertEqual(done.value, result)
            self.assertEqual(blocking.calls, waiting.calls)
            ((method, sent),) = blocking.calls
            self.assertEqual(method, wire_name(name))
            METHODS[method].read(json.loads(json.dumps(sent)))

    def test_result_of_another_type(self) -> None:
        """A server that answers something else than promised is an error, not a surprise later."""
        error = self.assertRaises(transport_errors.ProtocolError, RecordingCalls(True).submit_job, [])
        self.assertEqual(str(error), "SubmitJob answered True, expected int")

    def test_ways_of_calling(self) -> None:
        """Arguments go by place or by name, sequences of any kind as lists; other calls are refused as by any function."""
        calls = RecordingCalls([True, "done"])
        calls.cancel_job(3, kill=True)
        calls.submit_many_jobs(jobs=(({"OP_ID": "OP_TEST_DELAY"},), ()))
        sent = [args for _method, args in calls.calls]
        self.assertEqual(sent, [[3, True], [[[{"OP_ID": "OP_TEST_DELAY"}], []]]])
        for args, named in (((), {}), ((1,), {"now": True}), ((1, True, 2), {})):
            self.assertRaises(TypeError, calls.cancel_job, *args, **named)
        self.assertEqual(len(calls.calls), 2)

    def test_deep_filters(self) -> None:
        """How deep a filter may be is for the server to say."""
        deep: list[Any] = []
        for _ in range(900):
            deep = [deep]
        calls = RecordingCalls({})
        calls.query("node", ["name"], deep)
        self.assertEqual(json.dumps(calls.calls[0][1][2]), "[" * 901 + "]" * 901)

    def test_wait_is_capped(self) -> None:
        """No more time is asked for than the server gives."""
        calls = RecordingCalls([[], []])
        calls.wait_for_job_change(1, [], None, None, timeout=1000)
        self.assertEqual(calls.calls[0][1][-1], 89)


class ReadTests(SynchronousTestCase):
    """The check of arguments."""

    def refused(self, method: str, args: object) -> str:
        """The text with which a call is refused."""
        error = self.assertRaises(OpPrereqError, lambda: METHODS[method].read(args))
        self.assertEqual(error.args[1], ECode.INVAL)
        return str(error)

    def test_job_ids(self) -> None:
        """A job id is an int or its decimal string, and int from then on."""
        self.assertEqual(METHODS["ArchiveJob"].read(["17"]), [17])
        self.assertEqual(METHODS["QueryJobs"].read([[1, "2"], []]), [[1, 2], []])
        for value in ("", "-1", "1.0", "٣", "9" * 40, -1, 1.0, True, None, [1]):
            self.assertIn("ArchiveJob: job id: expected a job id", self.refused("ArchiveJob", [value]))

    def test_optional(self) -> None:
        """An optional argument may be absent."""
        self.assertEqual(METHODS["CancelJob"].read([1]), [1])
        self.assertEqual(METHODS["CancelJob"].read([1, True]), [1, True])

    def test_count(self) -> None:
        """The wrong number of arguments is named together with what is expected."""
        self.assertEqual(
            self.refused("QueryTags", ["node"]),
            "QueryTags: got 1 arguments, expected (kind: cluster, nodegroup, node, instance or network; "
            "name (empty string for cluster))",
        )
        self.refused("WaitForJobChange", [1, [], None, None])
        self.refused("SetDrainFlag", [True, True])
        self.refused("SetDrainFlag", {"flag": True})

    def test_place_of_the_fault(self) -> None:
        """The text says which argument, and which element of it, is wrong."""
        self.assertEqual(
            self.refused("SubmitManyJobs", [[[], [{}, 7]]]),
            "SubmitManyJobs: list of lists of opcode objects: element 1: element 1: expected an object, got 7",
        )

    def test_locking_queries(self) -> None:
        """Classic queries cannot take locks."""
        self.assertIn("expected false", self.refused("QueryNodes", [[], [], True]))

    def test_any_args(self) -> None:
        """QueryClusterInfo looks at no arguments."""
        anything: list[object] = [[], None, {}, "x", [1, 2]]
        for args in anything:
            self.assertEqual(METHODS["QueryClusterInfo"].read(args), [])

    def test_long_values_are_cut(self) -> None:
        """An error text does not grow with what was sent."""
        self.assertLess(len(self.refused("QueryConfigValues", ["x" * 100000])), 200)

    def test_unknown_method(self) -> None:
        """An unknown method is refused with the known ones."""
        error = self.assertRaises(OpPrereqError, lambda: METHODS["Reboot"])
        self.assertIn("Unknown method 'Reboot'; known are SubmitJob, ", str(error))
