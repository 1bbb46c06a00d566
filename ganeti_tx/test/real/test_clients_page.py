"""The examples of doc/clients.rst, run one after the other against a devcluster; each prints what the page says."""

import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.test.real.programs import SOURCE
from ganeti_tx.test.real.rapi_cluster import RapiCluster, rapi_cluster

PAGE = SOURCE / "doc" / "clients.rst"
#: An indented block after "::", or after the directive for what is printed.
_BLOCK = re.compile(r"(?:(::)|(\.\. code-block:: text))\n\n((?:(?: {4}.*)?\n)+)")
LIMIT = 120


@frozen
class Example:
    """A program, and what it prints."""

    code: str
    prints: str


def examples(page: str) -> Iterator[Example]:
    """The examples of a page in their order."""
    code = None
    for block in _BLOCK.finditer(page):
        text = textwrap.dedent(block[3]).strip() + "\n"
        if block[1]:
            if code is not None:
                raise AssertionError(f"the page does not say what this prints:\n{code}")
            code = text
        elif code is not None:
            yield Example(code, text)
            code = None
    if code is not None:
        raise AssertionError(f"the page does not say what this prints:\n{code}")


class PageTests(SynchronousTestCase):
    """The page is true."""

    def setUp(self) -> None:
        if not PAGE.exists():
            raise SkipTest("the documents are not beside this package")
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def test_examples(self) -> None:
        """Every example runs and prints what the page says."""
        cluster = rapi_cluster("page")
        shutil.copy(cluster.bundle, self.directory / "rapi.pem")
        found = list(examples(PAGE.read_text()))
        self.assertGreater(len(found), 7)
        for example in found:
            self.assertEqual(self.run_it(example.code, cluster), example.prints, example.code)

    def run_it(self, code: str, cluster: RapiCluster) -> str:
        """What a program prints, with the devcluster's places in place of the page's."""
        places = {
            '"cluster.example.com"': f'"{cluster.address}", name="{cluster.cluster.layout.cluster_name}"',
            "/var/run/ganeti/socket/ganeti-query": cluster.luxi_socket,
        }
        for place, ours in places.items():
            code = code.replace(place, ours)
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.directory,
            env={"PYTHONPATH": str(SOURCE)},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        if done.stderr or done.returncode:
            self.fail(f"{code}\nended with {done.returncode}: {done.stderr}")
        return done.stdout
