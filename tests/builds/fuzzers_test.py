"""tools/run-fuzzers gives each fuzzer room for its largest seed, and keeps what fuzzers find outside of the build folder; every fuzzer has
run, for as long as tests/fuzz/runs.tsv says."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
NEVER_NOTED = """
chunk_filters control_http csv_numbers ipasc_contents kwave_contents m2k micropulse_commands micropulse_replies micropulse_session
msot nde onde_contents openigtlink openigtlink_session scan_file_contents stl uff_contents us_lab4a_answers us_lab4a_requests
""".split()


class Fuzzers(unittest.TestCase):
    def test_seeds_are_whole_and_corpora_stay(self):
        names = sorted(folder.name for folder in (SOURCE / "tests/fuzz/corpus").iterdir() if folder.is_dir())
        self.assertGreater(len(names), 20)
        with tempfile.TemporaryDirectory(prefix="fuzzers-") as name:
            folder = pathlib.Path(name)
            (folder / "build/fuzzers").mkdir(parents=True)
            for fuzzer in names:  # each writes down what it is told
                program = folder / "build/fuzzers" / f"fuzz_{fuzzer}"
                program.write_text(f'#!/bin/sh\necho "$@" >{folder}/{fuzzer}.told\necho "stat::number_of_executed_units: 7"\n')
                program.chmod(0o755)
            done = subprocess.run([SOURCE / "tools/run-fuzzers", "--corpus", folder / "kept", "--jobs", "4", folder / "build", "1", *names],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for fuzzer in names:
                with self.subTest(fuzzer):
                    told = (folder / f"{fuzzer}.told").read_text()
                    limit = int(re.search(r"-max_len=(\d+)", told)[1])
                    largest = max((seed.stat().st_size for seed in (SOURCE / "tests/fuzz/corpus" / fuzzer).iterdir()), default=0)
                    self.assertGreaterEqual(limit, max(16384, largest))
                    self.assertIn(f" {folder}/kept/{fuzzer} ", told)
                    self.assertIn(f"{fuzzer}: 7 executions", done.stdout)

    def test_every_fuzzer_has_run(self):
        rows = [row.split("\t") for row in (SOURCE / "tests/fuzz/runs.tsv").read_text().splitlines()]
        self.assertEqual(rows[0], ["fuzzer", "date", "commit", "seconds", "executions", "edges"])
        for name, date, commit, seconds, executions, edges in rows[1:]:
            self.assertRegex(date, r"^\d{4}-\d\d-\d\d$", name)
            self.assertRegex(commit, r"^[0-9a-f]{7,40}$", name)
            self.assertGreaterEqual(int(seconds), 60, name)
            self.assertGreater(int(executions), 1000, name)
            self.assertGreater(int(edges), 10, name)
        fuzzers = sorted(path.name.removesuffix("_fuzz.cpp") for path in (SOURCE / "tests/fuzz").glob("*_fuzz.cpp"))
        ran = [row[0] for row in rows[1:]]
        self.assertEqual(ran, sorted(ran))
        # Nothing is ever added here: make fuzz, then tools/run-fuzzers --note SUMMARY COMMIT.
        self.assertEqual(sorted(set(fuzzers) - set(ran)), NEVER_NOTED, "fuzzers without a run that somebody noted")
        self.assertEqual(sorted(set(ran) - set(fuzzers)), [], "runs of fuzzers that are not there")
        for name in fuzzers:
            self.assertTrue(any((SOURCE / "tests/fuzz/corpus" / name).iterdir()), f"{name} has no corpus")

    def test_a_run_is_noted(self):
        with tempfile.TemporaryDirectory(prefix="fuzzers-") as name:
            folder = pathlib.Path(name)
            (folder / "tools").mkdir()
            (folder / "tests/fuzz").mkdir(parents=True)
            shutil.copy2(SOURCE / "tools/run-fuzzers", folder / "tools")
            runs, summary = folder / "tests/fuzz/runs.tsv", folder / "summary.txt"

            def note(text):
                summary.write_text(text)
                return subprocess.run([folder / "tools/run-fuzzers", "--note", summary, "0123abc"], capture_output=True, text=True)

            done = note("2026-11-28: executions, edges covered (cov) and features (ft), 300 s each, 8 at a time:\n"
                        "hello: 900 executions, cov: 12 ft: 34, exit code 0\nstl: 7 executions, cov: 5 ft: 6, exit code 77, FOUND SOMETHING\n")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = note("2026-11-29: executions, edges covered (cov) and features (ft), 60 s each, 8 at a time:\n"
                        "capture: 800 executions, cov: 11 ft: 30, exit code 0\n")
            self.assertEqual(runs.read_text().splitlines()[1:], ["capture\t2026-11-29\t0123abc\t60\t800\t11",
                                                                 "hello\t2026-11-28\t0123abc\t300\t900\t12"])
            done = note("nothing")
            self.assertEqual(done.returncode, 1)
            self.assertIn("expected the summary.txt of a run", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
