On a terminal, a command that waits for a job shows on one line, which is written anew in its place, the job's operation (and which of how many),
its step, the time that has passed and what is left, and the share of each disk that is synchronised. Elsewhere the output is as before.
