"""The settings of the cluster, each declared once at its field; all who set, show or keep it are derived."""
