``daemon-util`` and ``node-cleanup`` are there for scripts that know them from Ganeti, below ``/usr/lib/ganeti``, too.
