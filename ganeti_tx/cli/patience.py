"""How long commands wait for a master daemon that was there: it may be restarted, or be another node's soon."""

#: Seconds, of lists that are shown again and again and of jobs that are followed.
PATIENCE = 300.0
