Daemons that die are started again: by a supervisor in a devcluster (``ganeti-devcluster up --no-supervisor`` does without), by
systemd on real nodes. A daemon that may not run on a node because it is not the master ends with status 11. The locks of a job whose
process died are free at once. ``bench/chaos`` breaks a devcluster under load according to a seed and says whether it kept its promises.
