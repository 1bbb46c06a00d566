`/etc/init.d/ganeti {start|stop|restart|force-reload|status} [DAEMON]` is there for who is used to it, and `systemctl start|stop|restart
ganeti` is for all daemons of a node at once.
