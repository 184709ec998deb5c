"""A folder that is configured a second time compiles nothing again: make test and make check-asan configure the same one."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE = sys.argv[1:]


class Configure(unittest.TestCase):
    def test_the_second_time_has_the_same_commands(self):
        with tempfile.TemporaryDirectory(prefix="configure-") as folder:
            commands = []
            for _ in range(2):
                subprocess.run([CMAKE, "--preset", "release", "-B", folder, "-DECHOFORM_CUDA=OFF"], cwd=SOURCE, stdout=subprocess.DEVNULL, check=True)
                commands.append((pathlib.Path(folder) / "compile_commands.json").read_text().splitlines())
            for first, second in zip(*commands, strict=True):
                self.assertEqual(first, second)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
