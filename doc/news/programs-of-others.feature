``doc/clients.rst`` names programs of others that run unchanged against a cluster: ``hbal -L -X`` and its companions, ``gnt-monitoring``, ``ganeti-instance-debootstrap``.
