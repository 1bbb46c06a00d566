``GET /2/events`` of the Remote API streams what happens in the cluster as server-sent events: jobs, opcodes, messages, instances, nodes,
groups, networks, filter rules and the cluster itself; ``?kind=job,instance`` and ``?object=web1`` choose among them. A client that was cut
off sends ``Last-Event-ID`` and gets every event since once, also after a restart of ganeti-rapi, or a ``gap`` event that says what to
read anew.
