"""The viewer of the screen that it is on: it may see itself, and says so."""
import unittest

from view_support import WindowTest


class OwnScreen(WindowTest):
    def said(self, source):
        viewer = self.open(source)
        viewer.wait_for(lambda s: s["frames"] > 2, "frames")
        self.quit(viewer)
        return "".join(viewer.errors)

    def test_it_says_that_it_may_see_itself(self):
        for source, words in (("screen:", True), (f"screen:{self.screen.display}", True), ("screen:?hide=saccade", False)):
            with self.subTest(source=source):
                self.assertEqual("the viewer's window is on this screen" in self.said(source), words)


if __name__ == "__main__":
    unittest.main()
