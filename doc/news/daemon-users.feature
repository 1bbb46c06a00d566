Daemons run as Debian's users (``gnt-masterd``, ``gnt-confd``, ``gnt-rapi``) where these exist, with the owners and modes that
Ganeti gives to its files; root starts them, they give up what they do not need (``--no-user-checks``: they stay who they are).
Only ``ganeti-noded`` and ``ganeti-mond`` are root's. The units are hardened: ``systemd-analyze security`` gives 1.8 for
ganeti-master, luxid and wconfd, 1.5 for ganeti-rapi and confd, 3.2 for ganeti-mond.

``ganeti-setup`` puts in place what ``pip install`` leaves: units, users, directories, bash completion, log rotation and links to
the programs; ``--dry-run``, ``--remove`` and ``--root`` do what they say. ``ganeti-ensure-dirs`` mends owners and modes.
``gnt-node add`` finds the program on the new node where the master has it.
