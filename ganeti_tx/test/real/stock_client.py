"""Calls methods of Ganeti's own client of the Remote API: a program for the Python that Debian's package belongs to.

It reads a line of JSON a call, [method, arguments, named arguments], and writes a line of what came of it: ["ok", result],
["error", HTTP status, message], or ["broke", the client's own exception].
"""

import json
import sys

import pycurl  # type: ignore[import-untyped]
from ganeti.rapi import client  # type: ignore[import-not-found]


def without_checks(curl, _logger):  # type: ignore[no-untyped-def]
    """Talk to a certificate that nobody vouches for."""
    curl.setopt(pycurl.SSL_VERIFYPEER, False)
    curl.setopt(pycurl.SSL_VERIFYHOST, False)


def outcome(rapi, method, args, named):  # type: ignore[no-untyped-def]
    """What came of a call."""
    try:
        return ["ok", getattr(rapi, method)(*args, **named)]
    except client.GanetiApiError as error:
        return ["error", error.code, str(error)]
    except Exception as error:
        return ["broke", repr(error)]


def main() -> None:
    """Until there are no more lines."""
    host, port, username, password = sys.argv[1:]
    rapi = client.GanetiRapiClient(
        host, port=int(port), username=username, password=password, curl_config_fn=without_checks
    )
    for line in sys.stdin:
        print(json.dumps(outcome(rapi, *json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
