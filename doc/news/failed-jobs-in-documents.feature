With ``--output-format`` commands of several jobs give their list when all have ended, with the error of each that has failed; until now a later
failure was to be seen in the exit status alone. Objects of jobs have ``error`` always. ``gnt-job wait`` and ``watch`` give how jobs have ended, and ``watch``
of several tells on a terminal how far each is.
