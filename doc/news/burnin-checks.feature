``burnin`` looks for the definition of its operating system, and for the addresses of all names with that of ``--rename``, before it makes anything.
