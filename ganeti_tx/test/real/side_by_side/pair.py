"""Ganeti's own command and ours, run at the same time on one cluster."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

from attrs import field, frozen

from ganeti_tx.test.real.devcluster import DevClusterUnderTest
from ganeti_tx.test.real.side_by_side.lines import table
from ganeti_tx.test.real.test_stock_commands import AS_ON_NODE, COMMANDS, stock_environment

#: Seconds that one command may take.
LIMIT = 120.0


@frozen
class Printed:
    """What a command has done: how it ended, what it wrote, what it complained of."""

    status: int
    out: str
    err: str


@frozen
class Pair:
    """Runs command lines of both kinds on the master."""

    cluster: DevClusterUnderTest
    _threads: ThreadPoolExecutor = field(factory=lambda: ThreadPoolExecutor(2))
    _known: dict[str, str] = field(factory=dict)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def both(self, line: str) -> tuple[Printed, Printed]:
        """Ganeti's and ours. @raise subprocess.TimeoutExpired: one does not end."""
        words = self.here(line)
        stock = self._threads.submit(self.stock, words)
        ours = self._threads.submit(self.ours, words)
        return stock.result(), ours.result()

    def here(self, line: str) -> list[str]:
        """The words of a line, with what is called otherwise in each cluster."""
        words = [word.replace("%20", " ") for word in line.split()]
        if "FILTER" in words and not self._known:
            self._known["FILTER"] = self.ours(["gnt-filter", "list", "--no-headers", "-o", "uuid"]).out.split()[0]
        if words[-1] == "--output=EVERY":
            words[-1] = f"--output={self.every_field(*words[:2])}"
        return [self._known.get(word, word) for word in words]

    def every_field(self, program: str, command: str) -> str:
        """The names of all fields of what a command lists."""
        if command != "list":
            return ",".join(table()[program][command]["default_output_fields"])
        shown = self.stock([program, "list-fields", "--no-headers", "--separator=|"]).out
        return ",".join(line.split("|")[0] for line in shown.splitlines())

    def ours(self, words: list[str]) -> Printed:
        """Run ours."""
        return Printed(*self.cluster.run(words, LIMIT))

    def stock(self, words: list[str]) -> Printed:
        """Run Ganeti's."""
        done = subprocess.run(
            ["unshare", "-m", "sh", "-ec", AS_ON_NODE, "sh", str(COMMANDS / words[0]), *words[1:]],
            env={**stock_environment(), "NODE": str(self.cluster.layout.master.root)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        return Printed(done.returncode, done.stdout, done.stderr)
