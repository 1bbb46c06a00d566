"""What `gnt-filter add --help` tells of rules."""

RULES = """
Rules decide which queued jobs may start. They are asked by priority (lower numbers first), then by age; the first rule
that applies and does not say CONTINUE decides. A job that no rule is about may start.

--action is one of
  ACCEPT          the job may start
  CONTINUE        the next rule is asked; for a rule that shall do nothing just now
  PAUSE           the job stays in the queue until the rules change; jobs that run already go on
  REJECT          the job is canceled, one that is in the queue already too; its result names the rule
  'RATE_LIMIT N'  the job stays in the queue while N jobs run for which this rule decides

--predicates is a JSON list. A rule applies to the jobs for which all of them hold; without any, to every job.
  ["jobid", EXPRESSION]     field id; the value "watermark" stands for the highest job id when the rule was made
  ["opcode", EXPRESSION]    OP_ID and opcode parameters, such as instance_name or disks.0.size; one opcode must pass
  ["priority", EXPRESSION]  field priority, from -20 (first) to 19
  ["reason", EXPRESSION]    fields source, reason, timestamp; one entry of the reason trails must pass
Expressions are written as the query language has them: ["==", FIELD, VALUE], likewise with != < <= > >=;
["=~", FIELD, REGEXP]; ["=[]", LIST_FIELD, VALUE]; ["?", FIELD]; ["!", EXPRESSION]; ["&", EXPRESSION, ...];
["|", EXPRESSION, ...]. A comparison with a parameter that the opcode does not have, or of another type, does not hold.

Hold back what is submitted from now on, save what the watcher does:
  gnt-filter add --priority=10 --predicates='[["reason", ["==", "source", "gnt:watcher"]]]' --action=ACCEPT
  gnt-filter add --priority=20 --predicates='[["jobid", [">", "id", "watermark"]]]' --action=PAUSE

Let at most two instances be exported at a time:
  gnt-filter add --predicates='[["opcode", ["==", "OP_ID", "OP_BACKUP_EXPORT"]]]' --action='RATE_LIMIT 2'

Without any rule: of the jobs that are given the very same --reason='rate-limit:N:LABEL', at most N run at a time.
"""
