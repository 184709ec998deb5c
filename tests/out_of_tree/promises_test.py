"""What apps/program.hpp says that a program may have of its own, it can register: a function of some header for each kind."""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])


class Promises(unittest.TestCase):
    def test_each_kind_has_its_function(self):
        text = (SOURCE / "apps/program.hpp").read_text()
        kinds = re.search(r"a program with ([a-z, ]+) of its own", text.replace("\n// ", " "))[1]
        names = [name.strip().removesuffix("s").replace(" ", "_") for name in re.split(", | or ", kinds)]
        self.assertGreaterEqual(len(names), 3)
        headers = "".join(file.read_text() for folder in ("rays", "delay_laws", "methods", "apps", "transport", "formats", "stages", "pipeline")
                          for file in (SOURCE / folder).rglob("*.hpp") if file.name != "program.hpp")
        for name in names:
            said = re.search(rf"\badd_{name}\w*(?=\(\))", text)
            self.assertTrue(said, f"program.hpp names no function for {name}")
            self.assertRegex(headers, rf"void {said[0]}\(")


if __name__ == "__main__":
    if not (SOURCE / "apps/program.hpp").exists():
        print("SKIPPED: the sources are not here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
