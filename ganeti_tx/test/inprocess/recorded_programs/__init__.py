"""The whole record of Ganeti's programs, played on clusters in this process; what differs is declared by kind."""
