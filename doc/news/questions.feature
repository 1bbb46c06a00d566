Commands ask as Ganeti's do: the usual answer stands in brackets, and ``?`` tells what each key means. ``gnt-debug test-osparams`` shows that secret OS parameters reach a job.
