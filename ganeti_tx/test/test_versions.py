"""What programs say to --version."""

import argparse
import io
from contextlib import redirect_stdout

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx import __version__
from ganeti_tx.confd import command as confd_client
from ganeti_tx.devcluster import main as devcluster
from ganeti_tx.rapi.access import command_words as rapi_access


class VersionTests(SynchronousTestCase):
    """The programs that read their words with argparse; the others have tests of their own."""

    def said(self, parser: argparse.ArgumentParser, option: str) -> str:
        """What it prints before it ends with 0."""
        with redirect_stdout(io.StringIO()) as printed:
            ended = self.assertRaises(SystemExit, parser.parse_args, [option])
        self.assertEqual(ended.code, 0)
        return printed.getvalue()

    def test_version(self) -> None:
        """The name and the version, in the words of the gnt-* commands."""
        for module in (confd_client, devcluster, rapi_access):
            parser = module.parser()
            for option in ("--version", "-V"):
                self.assertEqual(self.said(parser, option), f"{parser.prog} (ganeti ganeti_tx) {__version__}\n")
