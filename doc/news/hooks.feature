Hooks run as Ganeti runs them: scripts in /etc/ganeti/hooks/HOOK-pre.d may refuse what is to be done to an instance, a node or the
cluster, those in HOOK-post.d hear of it afterwards, and config-update-post.d of every change of the configuration.
