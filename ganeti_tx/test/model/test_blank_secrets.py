"""URLs in a configuration that is given away."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.blank_secrets import blank_urls

#: Each text, and what is left of it.
URLS = (
    ("http://joe:s3cret@h/x.iso", "http://@h/x.iso"),
    ("http://joe:s3c/ret1@h:81/x.iso", "http://@h:81/x.iso"),
    ("http://joe:pa@s3cret@h/x.iso", "http://@h/x.iso"),
    ("http://u:s3cret?x@h", "http://@h"),
    ("http://u:s3cret#x@h/a", "http://@h/a"),
    ("http://u:s3 cret\nx@h/a", "http://@h/a"),
    ("https://s3cret@h/x", "https://@h/x"),
    ("http://:s3cret@h/", "http://@h/"),
    ("HTTP://u:s3cret\u00e4\\@x@h", "HTTP://@h"),
    ("iscsi://chap%s3cret@h/iqn/0", "iscsi://@h/iqn/0"),
    ("https://h/x?password=s3cret&X-Amz-Signature=s3cret", "https://h/x?"),
    ("https://h/x?a=1 s3cret", "https://h/x?"),
    ("https://h/x#token=s3cret", "https://h/x#"),
    ("https://me:s3cret@h/x?sig=s3cret#s3cret", "https://@h/x?"),
    ("https://h/x?mail=me@s3cret?b", "https://@s3cret?"),
    ("-drive file=ftp://a:s3cret/b@192.0.2.1/x -k de", "-drive file=ftp://@192.0.2.1/x -k de"),
    ("-a x://h/?s3cret -b y://s3cret@h -c", "-a x://h/? -b y://@h -c"),
)
#: What has nothing to hide stays.
PLAIN = ("", "http://h/x.iso", "me@example.com", "rbd:pool/image", "/srv/a?b@c", "what? me@home://", "a//b@c")


class BlankTests(SynchronousTestCase):
    """Of each form."""

    def test_blank(self) -> None:
        """Users, passwords, queries and fragments go; where it is stays, but behind an @ of its own."""
        for text, left in URLS:
            self.assertEqual(blank_urls(text), left)
            self.assertEqual(blank_urls(left), left)
        for text in PLAIN:
            self.assertEqual(blank_urls(text), text)
