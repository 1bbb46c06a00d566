``gnt-node modify --offline=no`` asks before a node that was offline is used again without ``--readd``, as Ganeti does; programs, which have no terminal, are not
asked.
