When the process of a job dies (killed, out of memory, power cut, failover of the master), a fresh process takes back what the job had begun,
before its locks are free, and the job says what died, what was taken back and what could not be. Steps are entries of the job's log, of type "step".
