``ganeti-listrunner``, ``confd-client``, ``query-config``, ``sanitize-config``, ``fmtjson``, ``users-setup``, ``post-upgrade`` and
``check-cert-expired`` are there, with the options of Ganeti's; ``doc/tools.rst`` says of each of Ganeti's 26 tools what does its work.
