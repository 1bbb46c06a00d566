Clients of the Remote API for programs, ``ganeti_tx.rapi_client``: blocking, on Twisted and on asyncio, typed, with every
method of Ganeti's own client library, waiting for jobs, events that survive lost connections, and certificates that are
always verified. ``doc/clients.rst`` has examples. The server describes itself in OpenAPI 3.1 at ``/openapi.json``.
