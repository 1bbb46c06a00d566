``gnt-instance add`` prints the UUID of the new instance (design-2.1) and the sizes of its disks. An instance without disks has nothing on which an
operating system could be installed, so the scripts of its OS definition are not run, as in Ganeti.
