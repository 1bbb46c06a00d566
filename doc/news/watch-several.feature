``gnt-job watch`` takes several jobs, as ids, ranges (``9-12``) or ``--all-running``: the lines of all come as they are said, each with its job's
id ahead of it, and the command succeeds if all of them do.
