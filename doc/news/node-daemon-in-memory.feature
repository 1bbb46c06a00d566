``ganeti-noded`` is locked in memory where root starts it and the system allows that, so that it goes on when the disk with its swap space does not;
``--no-mlock`` (in ``NODED_ARGS``) leaves it out. What it cannot write into its log, or to the journal, it says on the machine's console.
``ganeti-noded`` takes ``--max-clients`` and ``--interface``, as Ganeti's does.
