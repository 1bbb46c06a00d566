"""Another cluster like the samples' one, with nothing in common but the node group's name."""

from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.test.config.stores import CONFIG

OURS = CONFIG
#: In the text, longer words first.
OTHERS = {
    "-uuid": "-other",
    "node1.example.com": "node3.example.com",
    "node2.example.com": "node4.example.com",
    "192.0.2.11": "192.0.2.13",
    "192.0.2.12": "192.0.2.14",
    '"192.0.2.1"': '"192.0.2.2"',
    "cluster.example.com": "other.example.com",
    "web1.example.com": "web2.example.com",
    '"lan"': '"wan"',
    "aa:00:00:00:00:01": "aa:00:00:00:00:02",
}


def other_cluster() -> ConfigData:
    """It runs its instance."""
    text = encode(CONFIG).decode()
    for word, instead in OTHERS.items():
        text = text.replace(word, instead)
    return decode(text.encode())
