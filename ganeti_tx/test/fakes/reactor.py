"""A reactor in memory that can be given to the parts of a daemon."""

from twisted.internet.testing import MemoryReactorClock
from twisted.python.threadpool import ThreadPool


class PooledReactor(MemoryReactorClock):
    """One with a thread pool, which is never started."""

    def getThreadPool(self) -> ThreadPool:
        """The pool."""
        return ThreadPool()
