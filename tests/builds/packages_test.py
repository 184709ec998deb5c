"""tools/install-packages asks for packages that go with what users have: of the two versions of Boost the one that is there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

INSTALL_PACKAGES = sys.argv[1]


class Packages(unittest.TestCase):
    def asked_for(self, *present):
        """The packages that it has installed where only these are there. dpkg, apt-get and sudo are scripts that write down what they are told."""
        with tempfile.TemporaryDirectory(prefix="packages-") as name:
            folder = pathlib.Path(name)
            scripts = {"dpkg": "exit 0", "sudo": 'exec "$@"', "apt-get": f'[ "$1" = update ] || printf "%s\\n" "$@" >{folder}/asked',
                       "dpkg-query": f'for last; do :; done; grep -qx -- "$last" {folder}/present && printf installed'}
            (folder / "present").write_text("".join(f"{package}\n" for package in present))
            for script, body in scripts.items():
                (folder / script).write_text(f"#!/bin/sh\n{body}\n")
                (folder / script).chmod(0o755)
            subprocess.run([INSTALL_PACKAGES], env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}, check=True, stdout=subprocess.DEVNULL)
            asked = (folder / "asked").read_text().split()
            return [package for package in asked[asked.index("install") + 1:] if not package.startswith("-")]

    def boost(self, *present):
        return [package for package in self.asked_for(*present) if "boost" in package]

    def test_a_bare_machine_gets_the_default_version_of_boost(self):
        self.assertEqual(self.boost(), ["libboost1.74-dev"])

    def test_the_version_of_boost_that_is_there_stays(self):
        self.assertEqual(self.boost("libboost1.74-dev"), [])
        self.assertEqual(self.boost("libboost1.81-dev"), [])

    def test_what_is_there_is_not_asked_for(self):
        self.assertIn("cmake", self.asked_for())
        self.assertNotIn("cmake", self.asked_for("cmake"))

    def test_scipy_can_be_installed_beside_them(self):
        if shutil.which("apt-get") is None:
            self.skipTest("no apt here")
        simulate = ["apt-get", "--simulate", "-o", "Dir::State::status=/dev/null", "install", "--no-install-recommends"]
        if subprocess.run([*simulate, "python3-scipy"], capture_output=True).returncode != 0:
            self.skipTest("apt has no list with python3-scipy")
        together = subprocess.run([*simulate, *self.asked_for(), "python3-scipy"], capture_output=True, text=True)
        self.assertEqual(together.returncode, 0, together.stdout + together.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
