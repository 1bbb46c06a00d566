``ganeti-setup`` has systemd's timers, or cron, start the watcher every five minutes, and every night ``ganeti-cleaner node`` and
``ganeti-cleaner master``, which remove expired certificates, what the watcher kept long ago, and jobs archived more than 21 days ago.
