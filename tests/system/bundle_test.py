"""A bundle of two programs is made of the build folder, moved, and runs there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

MAKE_BUNDLE, BUILD = sys.argv[2], pathlib.Path(sys.argv[3])


def run(*command, **options):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


class Bundle(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="echoform-bundle-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, *options):
        # The smallest test program, and a dictionary of the processor's caches: packing takes most of the time.
        return run(MAKE_BUNDLE, "--no-build", "--build", BUILD, "--programs", "echoform test_rays", "--preset", 0,
                   "--dictionary", "256KiB", "--output", self.folder / "made/part", *options)

    def test_runs_where_it_is_unpacked(self):
        made = self.make()
        self.assertEqual(made.returncode, 0, made.stdout)
        self.assertIn("tarball: ", made.stdout)
        with tarfile.open(self.folder / "made/part.tar.xz") as tar:
            tar.extractall(self.folder / "elsewhere")
        shutil.rmtree(self.folder / "made")
        root = self.folder / "elsewhere/part"
        self.assertTrue((root / "share/licences/PACKAGES").read_text().count("\n") > 10)
        # The programs of an ordinary build folder do not look beside their own folder.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ECHOFORM_")}
        environment["LD_LIBRARY_PATH"] = str(root / "lib")
        libraries = run("ldd", root / "bin/echoform", env=environment).stdout
        self.assertNotIn("not found", libraries)
        for name in ("libstdc++", "libzmq", "libfftw3f"):
            self.assertRegex(libraries, f"{name}.*=> {root}/(bin/../)?lib/")
        info = run(root / "bin/echoform", "info", env=environment)
        self.assertEqual(info.returncode, 0, info.stdout)
        # Tests in Python want nothing that stays behind.
        listed = (root / "share/echoform/system-tests").read_text()
        self.assertGreater(listed.count("\n"), 10)
        self.assertNotIn(str(pathlib.Path(MAKE_BUNDLE).resolve().parents[1]), listed)
        for word in listed.split():
            if word.startswith("@ROOT@/"):
                self.assertTrue((root / word.removeprefix("@ROOT@/")).exists(), word)
        tests = run(root / "run-tests", "--programs", "test_rays", "--filter", "PointLattice.*", "--jobs", 2, env=environment,
                    cwd=self.folder)
        self.assertEqual(tests.returncode, 0, tests.stdout)
        self.assertRegex(tests.stdout, r"(\d+) tests: executed \1, passed \1, failed 0, skipped 0")
        none = run(root / "run-tests", "--programs", "test_rays", "--filter", "Nothing.*", env=environment, cwd=self.folder)
        self.assertEqual(none.returncode, 1, none.stdout)

    def test_a_folder_with_other_files_is_left_alone(self):
        target = self.folder / "made/part"
        target.mkdir(parents=True)
        (target / "mine").write_text("")
        made = self.make("--no-archive")
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("holds files that are no bundle", made.stdout)
        self.assertTrue((target / "mine").exists())


if __name__ == "__main__":
    if not shutil.which("dpkg"):
        print("SKIPPED: bundles are made on Debian")
        sys.exit(77)
    if any(start in (BUILD / "bin/echoform").read_bytes() for start in (b"__asan_init", b"__tsan_init")):
        print("SKIPPED: programs with a sanitizer are ten times as large, and are in no bundle")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
