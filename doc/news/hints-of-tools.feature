``query-config`` and ``confd-client config`` tell at which place of the configuration a pointer leads nowhere, and what was probably meant. All programs name the
nearest option or word of their command line. ``check-cert-expired`` tells what is wrong with a file.
