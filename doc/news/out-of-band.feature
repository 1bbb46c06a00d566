Out-of-band management: ``gnt-node power on|off|cycle|status`` and ``gnt-node health`` run the program that the node parameter ``oob_program`` names, on the
master, for one node after the other; what it tells is checked, and the power of nodes is recorded. ``oob_program=!`` stops the inheritance from cluster or group.
