``gnt-job cancel`` and ``change-priority`` of all jobs in a status show these jobs as ``gnt-job list`` does before they ask, as Ganeti's do.
