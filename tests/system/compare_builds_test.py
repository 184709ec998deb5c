"""tools/compare-builds: what it makes of two programs that measure what they are told to, and that it measures real ones."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
TOOL = pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"]) / "tools/compare-builds"

# Stands in for a program: a benchmark that finds SPEED times the same figures, a little more or less from run to run.
STAND_IN = """#!{python}
import json, pathlib, sys
log = pathlib.Path({log!r})
with log.open("a") as file:
    file.write({name!r})
words = sys.argv[1:]
if {broken} or "bench" not in words:
    sys.exit("echoform: out of order")
spread = lambda value: {{"median": value, "least": 0.9 * value, "most": 1.1 * value}}
speed = {speed} * (1.0 + 0.001 * (len(log.read_text()) % 3))
figures = {{"images_per_second": spread(100.0 * speed), "limit": spread(1000.0), "ratio": spread(0.1), "turns": {{"values": {{}}}},
           "stages": [{{"stage": "beamform", "seconds": spread(0.01 / {beamform} / speed)}}, {{"stage": {name!r}, "seconds": spread(0.01)}}]}}
name = words[words.index("bench") + 1]
pathlib.Path(words[words.index("--json") + 1]).write_text(json.dumps({{"backend": "cpu", name: figures}}))
"""


class CompareBuilds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"

    def stand_in(self, name, speed=1.0, beamform=1.0, broken=False):
        path = self.folder / name
        path.write_text(STAND_IN.format(python=sys.executable, log=str(self.log), name=name, speed=speed, beamform=beamform, broken=broken))
        path.chmod(0o755)
        return path

    def compare(self, before, after, *options, code):
        figures = self.folder / "figures.json"
        done = subprocess.run([sys.executable, str(TOOL), str(before), str(after), "--json", str(figures), *map(str, options)], capture_output=True,
                              text=True, timeout=200)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        values = json.loads(figures.read_text())
        return done.stdout, {row["line"]: row for row in values["lines"]}, values

    def test_programs_alike_take_turns_and_are_within_the_limit(self):
        text, lines, values = self.compare(self.stand_in("A"), self.stand_in("B"), "--only", "frame", "--pairs", 4, "--seconds", 0, code=0)
        self.assertEqual(self.log.read_text(), "ABBAABBA")
        self.assertEqual(sorted(lines), ["beamform, seconds", "images per second"])
        self.assertEqual({line["verdict"] for line in lines.values()}, {"yes"})
        self.assertIn("| frame: images per second | 100", text)
        self.assertEqual(values["in_one_alone"], [{"case": "frame", "line": "A, seconds", "build": "before"},
                                                  {"case": "frame", "line": "B, seconds", "build": "after"}])

    def test_lines_that_have_other_names_by_now(self):
        _, lines, values = self.compare(self.stand_in("A"), self.stand_in("B"), "--only", "frame", "--pairs", 1, "--seconds", 0, "--renamed", "A=B", code=0)
        self.assertEqual(values["in_one_alone"], [])
        self.assertIn("B, seconds", lines)

    def test_a_line_beyond_the_limit_fails(self):
        text, lines, _ = self.compare(self.stand_in("A"), self.stand_in("B", beamform=0.9), "--only", "frame", "--pairs", 3, "--seconds", 0, code=1)
        self.assertEqual({name: line["verdict"] for name, line in lines.items()}, {"beamform, seconds": "slower", "images per second": "yes"})
        self.assertAlmostEqual(lines["beamform, seconds"]["ratio"], 0.9, delta=0.002)  # the stand-ins' own spread
        self.assertRegex(text, r"\| frame: beamform, seconds \|.*\*\*no: (9\.\d|10\.\d) % slower\*\*")
        self.compare(self.stand_in("A"), self.stand_in("B", beamform=0.9), "--only", "frame", "--pairs", 3, "--seconds", 0, "--limit", 15, code=0)

    def test_two_pairs_tell_nothing_of_a_spread(self):
        _, lines, _ = self.compare(self.stand_in("A"), self.stand_in("B", speed=0.9), "--only", "frame", "--pairs", 2, "--seconds", 0, code=0)
        self.assertEqual({line["verdict"] for line in lines.values()}, {"within its spread"})

    def test_the_best_of_each_run(self):
        _, lines, values = self.compare(self.stand_in("A"), self.stand_in("B"), "--only", "frame", "--pairs", 1, "--seconds", 0, "--best", code=0)
        self.assertEqual(values["of_each_run"], "best")
        # 1.1 times the rate and 0.9 times the seconds of the median, and the stand-ins' own spread.
        self.assertAlmostEqual(lines["images per second"]["before"], 110.0, delta=0.3)
        self.assertAlmostEqual(lines["beamform, seconds"]["before"], 0.009, delta=0.00003)

    def test_what_was_not_measured_is_said(self):
        text, lines, _ = self.compare(self.stand_in("A"), self.stand_in("B"), "--only", "frame", "--only", "kernel", "--seconds", 0, code=3)
        self.assertEqual(lines, {})
        self.assertIn("Not measured within 0 s: frame, kernel.", text)

    def test_a_program_that_fails(self):
        text, _, _ = self.compare(self.stand_in("A"), self.stand_in("B", broken=True), "--only", "frame", "--pairs", 1, "--seconds", 0, code=1)
        self.assertRegex(text, r"Failed: frame, after: .*exit code 1: echoform: out of order")

    def test_real_programs(self):
        _, lines, _ = self.compare(PROGRAM, PROGRAM, "--only", "start", "--pairs", 1, "--seconds", 0, code=0)
        self.assertEqual(sorted(lines), ["image, start to end", "serve, start until it listens"])
        _, lines, _ = self.compare(PROGRAM, PROGRAM, "--only", "hilbert", "--pairs", 1, "--seconds", 0, "--bench=--elements=4", "--bench=--samples=256", code=0)
        self.assertEqual(len(lines), 4)
        for line in lines.values():
            self.assertTrue(line["is_time"])
            self.assertGreater(line["before"], 0.0)

    def test_words_that_it_does_not_know(self):
        done = subprocess.run([sys.executable, str(TOOL), PROGRAM, "/no/such", "--only", "frame"], capture_output=True, text=True, timeout=60)
        self.assertIn("/no/such: found no file; expected a program", done.stderr)
        done = subprocess.run([sys.executable, str(TOOL), PROGRAM, PROGRAM, "--only", "fame"], capture_output=True, text=True, timeout=60)
        self.assertIn('--only: found "fame"; expected start, frame', done.stderr)


if __name__ == "__main__":
    if not TOOL.exists():
        print("SKIPPED: the sources are not here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
