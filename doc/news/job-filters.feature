Job filters: `gnt-filter` makes rules that pause, reject, accept or rate-limit queued jobs by their id, opcodes, reasons and
priority (`gnt-filter add --help` is the manual). Jobs that are given the same reason `rate-limit:N:LABEL` run at most N at a
time. A job that a rule rejects is canceled, and whoever waits for it is told by which rule and why.
