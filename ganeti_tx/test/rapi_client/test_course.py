"""Which steps a call takes: what is kept, what is sent again, and when it is given up."""

from collections.abc import Generator
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi_client.actions.cluster import get_info, get_version, redistribute_config
from ganeti_tx.rapi_client.cache import Cache
from ganeti_tx.rapi_client.course import FIRST_PAUSE, course
from ganeti_tx.rapi_client.errors import AnswerError, CertificateError, NoAnswerError, RapiError
from ganeti_tx.rapi_client.message import Action, Message, Pause, Reply


class CourseTests(SynchronousTestCase):
    """One call, answered step by step."""

    def setUp(self) -> None:
        self.cache = Cache()
        self.sent: list[Message] = []
        self.pauses: list[float] = []

    def run_it(self, action: Action[Any], *answers: Reply | Exception, retries: int = 2) -> Any:
        """The result with these answers, all of which must be asked for."""
        left = list(answers)
        steps: Generator[Any, Any, Any] = course(action, self.cache, retries)
        try:
            step = next(steps)
            while True:
                if isinstance(step, Pause):
                    self.pauses.append(step.seconds)
                    step = steps.send(None)
                    continue
                self.sent.append(step)
                answer = left.pop(0)
                step = steps.throw(answer) if isinstance(answer, Exception) else steps.send(answer)
        except StopIteration as end:
            self.assertEqual(left, [])
            return end.value

    def fails(self, kind: type[Exception], action: Action[Any], *answers: Reply | Exception, retries: int = 2) -> Any:
        """The error."""
        return self.assertRaises(kind, self.run_it, action, *answers, retries=retries)

    def test_plain(self) -> None:
        """One message, one answer."""
        self.assertEqual(self.run_it(get_version(), Reply(200, {}, b"2\n")), 2)

    def test_repeated(self) -> None:
        """A safe request is sent again with longer pauses, so often and no more."""
        self.assertEqual(self.run_it(get_version(), NoAnswerError("a"), NoAnswerError("b"), Reply(200, {}, b"2")), 2)
        self.assertEqual(self.pauses, [FIRST_PAUSE, 2 * FIRST_PAUSE])
        self.fails(NoAnswerError, get_version(), *[NoAnswerError("a")] * 3)

    def test_not_repeated(self) -> None:
        """What submits a job is never sent again; nor is anything to a server that is not trusted."""
        self.fails(NoAnswerError, redistribute_config(), NoAnswerError("a"))
        self.fails(CertificateError, get_version(), CertificateError("a"))
        self.assertEqual(self.pauses, [])

    def test_busy(self) -> None:
        """A busy server is asked again when it wants to be; not when that is far away or it does not say."""
        busy = Reply(503, {"retry-after": "3"}, b'{"message": "later"}')
        self.assertEqual(self.run_it(get_version(), busy, Reply(200, {}, b"2")), 2)
        self.assertEqual(self.pauses, [3])
        self.fails(RapiError, redistribute_config(), busy)
        for after in ("3000", "9" * 5000, "-1", "soon", "²"):
            self.fails(RapiError, get_version(), Reply(429, {"retry-after": after}))
        self.fails(RapiError, get_version(), Reply(503))

    def test_kept(self) -> None:
        """An answer with an ETag is kept until the server says that it is no longer true."""
        self.run_it(get_version(), Reply(200, {"etag": '"a"'}, b"2"))
        self.assertEqual(self.run_it(get_version(), Reply(304)), 2)
        self.assertEqual(self.run_it(get_version(), Reply(200, {"etag": '"b"'}, b"3")), 3)
        self.assertEqual(self.run_it(get_version(), Reply(304)), 3)
        asked = [dict(message.headers).get("If-None-Match") for message in self.sent]
        self.assertEqual(asked, [None, '"a"', '"a"', '"b"'])

    def test_gone(self) -> None:
        """After an error nothing is kept."""
        self.run_it(get_version(), Reply(200, {"etag": '"a"'}, b"2"))
        self.fails(RapiError, get_version(), Reply(500))
        self.run_it(get_version(), Reply(200, {}, b"2"))
        self.assertEqual(self.sent[-1].headers, ())

    def test_overlapping(self) -> None:
        """What a request was asked with stays known to it, whatever others of the client are answered meanwhile."""
        self.run_it(get_version(), Reply(200, {"etag": '"a"'}, b"2"))
        steps = course(get_version(), self.cache)
        next(steps)
        self.fails(RapiError, get_version(), Reply(500))
        end = self.assertRaises(StopIteration, steps.send, Reply(304))
        self.assertEqual(end.value, 2)

    def test_little_is_kept(self) -> None:
        """What is kept never takes more room than it may; the oldest goes first."""
        cache = Cache(size=10)
        for name in ("a", "b", "c"):
            message = Message("GET", name, safe=True)
            cache.settled(message, None, Reply(200, {"etag": name}, b"1234"))
        kept = [name for name in ("a", "b", "c") if cache.known(Message("GET", name, safe=True))]
        self.assertEqual(kept, ["b", "c"])
        cache.settled(Message("GET", "d", safe=True), None, Reply(200, {"etag": "d"}, b"x" * 11))
        self.assertIsNone(cache.known(Message("GET", "d", safe=True)))

    def test_errors(self) -> None:
        """An error of the server has its status and text, whatever its body is."""
        error = self.fails(RapiError, get_version(), Reply(404, {}, b'{"message": "no &lt;a&gt;", "explain": "e"}'))
        self.assertEqual((error.status, error.message, error.explain), (404, "no <a>", "e"))
        for body in (b"", b"<html>", b"[]", b'{"message": 1}', b"\xff", b"[" * 100000):
            error = self.fails(RapiError, get_version(), Reply(502, {}, body))
            self.assertIn("502", str(error))

    def test_wrong_answers(self) -> None:
        """What does not fit the declared type is an error in one short line."""
        for body in (b"", b"[", b"{}", b'{"name": 3}', b"\xff", b"[" * 100000):
            error = self.fails(AnswerError, get_info(), Reply(200, {}, body))
            self.assertLess(len(str(error)), 300)
