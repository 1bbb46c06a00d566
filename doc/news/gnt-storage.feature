``gnt-storage diagnose`` and ``gnt-storage info`` show the providers of external storage; ``gnt-cluster verify`` tells of those that are missing, cannot be used or differ.
