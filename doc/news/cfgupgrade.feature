``cfgupgrade`` (also in ``/usr/lib/ganeti/tools``) brings the data directory of any version since 2.7 to the present one, with what
lies beside the configuration, and one version back with ``--downgrade``.
