A job queue of any size: the master starts in seconds on tens of thousands of jobs, keeps little of those that have ended, and answers
others while it lists hundreds of thousands of archived ones. Damaged files in the queue's directory are moved to ``lost+found``
and told by ``gnt-cluster verify``; job numbers are never used twice. Master candidates follow the archive and the drain flag, also after they were away.
