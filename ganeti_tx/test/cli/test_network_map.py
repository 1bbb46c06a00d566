"""The map of a network's addresses."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.network.info import map_lines


class NetworkMapTests(SynchronousTestCase):
    """`map_lines`."""

    def test_whole(self) -> None:
        """Up to 4096 addresses each line is shown."""
        lines = list(map_lines("X" + 4094 * "." + "X"))
        self.assertEqual(len(lines), 65)
        self.assertEqual(lines[0], "        0 X" + 63 * "." + " 63")
        self.assertNotIn("*", "".join(lines))

    def test_folded(self) -> None:
        """In a larger one lines that are alike are told by their number, between the first and the last of them."""
        taken = "X" + 65534 * "." + "X"
        taken = taken[:6400] + 256 * "X" + taken[6656:]
        lines = list(map_lines(taken))
        self.assertEqual(
            [line.strip() for line in lines],
            [
                "0 X" + 63 * "." + " 63",
                "64 " + 64 * "." + " 127",
                "* 97 lines like the one before",
                "6336 " + 64 * "." + " 6399",
                "6400 " + 64 * "X" + " 6463",
                "* 2 lines like the one before",
                "6592 " + 64 * "X" + " 6655",
                "6656 " + 64 * "." + " 6719",
                "* 917 lines like the one before",
                "65408 " + 64 * "." + " 65471",
                "65472 " + 63 * "." + "X 65535",
                "(X) used    (.) free",
            ],
        )
