"""The whole record of gnt-instance and gnt-storage of Ganeti 3.0.2, played on a cluster in this process."""
