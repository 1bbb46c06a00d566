"""Memory that stays in RAM, or a reason why it does not; of real processes, as a lock holds for all of one."""

import json
import os
import subprocess
import sys
from typing import Any

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.runtime.locked_memory import lock_memory

CHILD = """
import json, resource, threading, subprocess, sys
from ganeti_tx.runtime.locked_memory import lock_memory
{before}
limits = resource.getrlimit(resource.RLIMIT_MEMLOCK)
said = lock_memory()
assert resource.getrlimit(resource.RLIMIT_MEMLOCK) == limits
def fact(name, process="self"):
    return int(next(line.split()[1] for line in open(f"/proc/{{process}}/status") if line.startswith(name)))
size = fact("VmRSS")
held = bytearray(30 << 20)
done = threading.Event()
threads = [threading.Thread(target=done.wait) for _ in range(10)]
for each in threads: each.start()
grown = fact("VmRSS") - size
child = subprocess.run(["grep", "VmLck", "/proc/self/status"], capture_output=True, text=True).stdout.split()[1]
done.set()
print(json.dumps([said, fact("VmLck") > 30 << 10, grown < 60 << 10, int(child)]))
"""
#: Root that has given up the right to lock memory, but for a little (CAP_IPC_LOCK is number 14).
WITHOUT_RIGHT = """
import ctypes
assert ctypes.CDLL(None).prctl(24, 14, 0, 0, 0) == 0  # out of the bounding set: a program of root's begins without it
import os, sys
if len(sys.argv) == 1:
    os.execv(sys.executable, [sys.executable, __file__, "again"])
"""


class LockedMemoryTests(SynchronousTestCase):
    """This process's own memory is left alone."""

    def child(self, before: str = "") -> list[Any]:
        """What a process of root's says: why not, whether it is locked, whether threads are small, what its child has locked."""
        if os.geteuid() != 0:
            raise SkipTest("only root locks memory")
        program = self.mktemp()
        with open(program, "w") as file:
            file.write(CHILD.format(before=before))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        said: list[Any] = json.loads(done.stdout)
        return said

    def test_locked(self) -> None:
        """All of it, what comes later, too; not that of programs it starts. Threads do not make it large."""
        said = self.child()
        if said[0]:
            raise SkipTest(f"memory cannot be locked here: {said[0]}")
        self.assertEqual(said, ["", True, True, 0])

    def test_no_right(self) -> None:
        """Root in a container, who may lock a little, locks nothing: it would be refused more memory some day."""
        self.assertEqual(self.child(WITHOUT_RIGHT), ["Operation not permitted", False, True, 0])

    def test_refused(self) -> None:
        """What the system says is the reason; who is not root does not ask it."""

        def refuse() -> None:
            raise OSError(12, "Cannot allocate memory")

        self.assertEqual(lock_memory(refuse, 0), "Cannot allocate memory")
        self.assertEqual(lock_memory(refuse, 1000), "only root's can be")
