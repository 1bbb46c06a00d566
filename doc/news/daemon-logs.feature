The daemons' log files are appended to and begun anew when they were moved away; ``etc/logrotate/ganeti`` rotates them, with
``rapi-access.log``. A wrong command line of a daemon is told in one line. On a node that is in no cluster daemons end with 12.
Every daemon takes ``--syslog=yes`` and ``--no-user-checks``, as Ganeti's do, so that what ``/etc/default/ganeti`` holds goes on working.
