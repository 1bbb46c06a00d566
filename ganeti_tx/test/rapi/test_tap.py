"""The options of ganeti-rapi."""

from pathlib import Path

from twisted.python.usage import UsageError
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.http.connections import MOST
from ganeti_tx.rapi.service import Settings
from ganeti_tx.rapi.tap import Options


class OptionTests(SynchronousTestCase):
    """What may be said."""

    def settings(self, *words: str) -> Settings:
        """What the service takes from a command line."""
        options = Options()
        options.parseOptions(words)
        return options.settings()

    def test_nothing(self) -> None:
        """Without a word it is TLS on port 5080 of every address."""
        self.assertEqual(
            self.settings(),
            Settings(
                port=5080,
                address=None,
                tls=True,
                certificate=None,
                key=None,
                require_authentication=False,
                max_clients=MOST,
            ),
        )

    def test_everything(self) -> None:
        """Each option has its letter or its name, as Ganeti has them."""
        given = self.settings(
            *("-p", "443", "-b", "192.0.2.1", "-C", "/a.pem", "-K", "/b.pem", "--no-ssl"),
            *("--require-authentication", "--max-clients=7", "--syslog=no", "-d"),
        )
        self.assertEqual(
            given,
            Settings(
                port=443,
                address="192.0.2.1",
                tls=False,
                certificate=Path("/a.pem"),
                key=Path("/b.pem"),
                require_authentication=True,
                max_clients=7,
            ),
        )

    def test_interface(self) -> None:
        """An interface stands for its address."""
        self.assertEqual(self.settings("-i", "lo").address, "127.0.0.1")

    def test_refused(self) -> None:
        """What cannot be is refused with what can."""
        for words, text in (
            (("-i", "lo", "-b", "127.0.0.1"), "give one of them"),
            (("-i", "nonesuch0"), "nonesuch0 has no address"),
            (("--max-clients=0",), "give 1 or more"),
            (("--max-clients=many",), "give 1 or more"),
            (("--bind=here",), "not an IP address"),
            (("--syslog=only",), "neither no nor yes"),
            (("--port=many",), "not a port"),
        ):
            self.assertIn(text, str(self.assertRaises(UsageError, self.settings, *words)))
