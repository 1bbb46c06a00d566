``ganeti-confd`` runs on every node and answers, on master candidates, signed questions about the cluster over UDP, with Ganeti's
protocol and all twelve requests: tens of thousands a second. It follows changes of the configuration and of the key without a restart. Secrets (private OS
parameters, DRBD's) are blanked in its answers, which cross the network in clear. Clients for Twisted, asyncio and programs that
block ask several candidates at once and take the newest answer. ``ganeti-confd-client`` asks from a shell: ``ganeti-confd-client
master``, ``... ip 198.51.100.7``, ``... --json node-role node2``.
