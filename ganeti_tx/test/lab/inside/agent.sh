#!/bin/sh
# Runs programs for those who reach its socket, which only root can.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd / || exit 1
umask 077
exec python3 -m ganeti_tx.test.lab.agent /run/lab-agent
