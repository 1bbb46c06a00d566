"""How long a client that waits for something goes on while the server does not answer."""

from attrs import define

from ganeti_tx.rapi_client.errors import CertificateError, ClientError, NoAnswerError, RapiError

#: So many attempts may fail one after the other.
MAX_FAILURES = 8
#: Seconds before the next attempt; each failure doubles them.
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
#: Statuses that pass, as when the master daemon is started again.
_PASSING = (429, 502, 503, 504)


@define
class Backoff:
    """Counts failures, one after the other; after a success another one begins."""

    _failures: int = 0

    def after(self, error: ClientError, first: float = FIRST_PAUSE) -> float:
        """Seconds to wait after a failure. @raise ClientError: the error, when trying again does not help (any more)."""
        self._failures += 1
        if self._failures > MAX_FAILURES or not _passes(error):
            raise error
        return float(min(first * 2 ** (self._failures - 1), LONGEST_PAUSE))


def _passes(error: ClientError) -> bool:
    if isinstance(error, RapiError):
        return error.status in _PASSING
    return isinstance(error, NoAnswerError) and not isinstance(error, CertificateError)
