A disk that is full, read-only or broken for a while costs no restart and no job. Every refusal names the file, what the
system said and what to do; a running job's end is kept until it can be written; locks are told only when they are on
record; what a crash left half written is removed at the next start. A damaged ``config.data`` is refused with the names
of the nodes that have copies.
