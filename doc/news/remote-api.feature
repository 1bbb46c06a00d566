The Remote API has a daemon of its own, ``ganeti-rapi``. Connections are kept open, large answers are compressed for clients that ask
for it, and every GET has an ``ETag``: with ``If-None-Match`` what has not changed is not sent again, and with ``If-Match`` a change is
refused (412) when its instance, node, group or network has been changed since. Every request is a line in ``rapi-access.log``, in the
combined log format. A new ``rapi.pem`` is used without a restart. ``bench/rapi.py`` tells how fast it is.
