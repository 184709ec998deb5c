"""What `echoform plan` says of each example: nothing but warnings that the example itself tells its readers of."""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import unittest

PROGRAM = sys.argv[1]
EXAMPLES = pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"]) / "examples"
# By what a warning says, what the comment that begins an example says of it.
TOLD = {"grating lobes": "warns of grating lobes", "nearly blind": "warns of blind directions", "more than a point is wide": "warns that lines are far apart"}


def plan(example):
    return subprocess.run([PROGRAM, "--log-level", "warning", "plan", "--no-measure", "--config", str(example)], capture_output=True, text=True, timeout=600)


class Examples(unittest.TestCase):
    def test_plan_warns_of_nothing_that_an_example_does_not_tell(self):
        examples = sorted(EXAMPLES.glob("*.toml"))
        self.assertGreater(len(examples), 30)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            planned = list(pool.map(plan, examples))
        for example, done in zip(examples, planned):
            with self.subTest(example.name):
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr, "")
                begins = " ".join(line.removeprefix("# ") for line in example.read_text().split("\n[", 1)[0].splitlines())
                warnings = [line for line in done.stdout.splitlines() if line.startswith("warning: ")]
                told = {comment for comment in TOLD.values() if comment in begins}
                self.assertEqual({next((comment for text, comment in TOLD.items() if text in line), line) for line in warnings}, told)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
