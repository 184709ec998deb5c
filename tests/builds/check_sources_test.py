"""tools/check-builds finds what compiling sources together, with headers precompiled, would hide."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK_BUILDS, COMPILER, BUILD = sys.argv[1:]
FLAGS = "-std=c++20 -Wall -Wshadow -Werror"
GOOD = "#include <cmath>\nint main() { return static_cast<int>(std::floor(0.5)); }\n"


class CheckSources(unittest.TestCase):
    def check(self, sources, headers=None):
        """The tool's outcome for a folder with these sources and headers, text by name."""
        with tempfile.TemporaryDirectory(prefix="check-sources-", dir=BUILD) as name:
            folder = pathlib.Path(name)
            commands = []
            for header, text in (headers or {}).items():
                (folder / header).write_text(text)
            for source, text in sources.items():
                (folder / source).write_text(text)
                commands.append({"directory": name, "file": str(folder / source),
                                 "command": f"{COMPILER} {FLAGS} -o {source}.o -c {folder / source}"})
            (folder / "compile_commands.json").write_text(json.dumps(commands))
            outcome = subprocess.run([CHECK_BUILDS, "--folder", name, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual([path.name for path in folder.glob("*.o")], [], "no code is made")
            return outcome

    def test_sources_that_stand_by_themselves_pass(self):
        outcome = self.check({"a.cpp": GOOD, "b.cpp": GOOD, "kernel.cu": "no C++"})
        self.assertEqual(outcome.returncode, 0, outcome.stdout)
        self.assertIn("2 sources by themselves: 2 without a warning, 0 with one", outcome.stdout)

    def test_a_name_that_shadows_another_fails(self):
        shadowing = "#include <string>\nconst std::string grid;\nint main() { const std::string grid; return grid.empty() ? 0 : 1; }\n"
        outcome = self.check({"a.cpp": GOOD, "scene_test.cpp": shadowing})
        self.assertEqual(outcome.returncode, 1, outcome.stdout)
        self.assertRegex(outcome.stdout, "scene_test.cpp.*declaration.* shadows")
        self.assertIn("1 without a warning, 1 with one", outcome.stdout)

    def test_a_header_that_is_not_included_fails(self):
        outcome = self.check({"a.cpp": "int main() { return static_cast<int>(std::floor(0.5)); }\n"})
        self.assertEqual(outcome.returncode, 1, outcome.stdout)

    def test_what_is_remembered_does_not_hide_a_header_that_changed(self):
        uses = "#include \"depth.hpp\"\nint main() { return depth; }\n"
        for _ in range(2):
            self.assertEqual(self.check({"a.cpp": uses}, {"depth.hpp": "constexpr int depth = 0;\n"}).returncode, 0)
        self.assertEqual(self.check({"a.cpp": uses}, {"depth.hpp": "constexpr int width = 0;\n"}).returncode, 1)

    def test_a_warning_that_is_no_error_fails(self):
        outcome = self.check({"a.cpp": "#pragma message(\"odd\")\n" + GOOD})
        self.assertEqual(outcome.returncode, 1, outcome.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
