``gnt-cluster upgrade --to VERSION`` has all nodes run another version of the program, one after the other, while instances run;
``--resume`` goes on when it was broken off, and ``--to`` with the former version goes back.
