``gnt-debug submit-job`` tells which job is of which file, and with ``--timing-stats`` its counts and times in Ganeti's layout.
