"""`mpirun -n K echoform reconstruct`: the same volume within rounding whatever K, the same bits for the same K, and the end of all
where one process is lost. `mpirun -n K echoform image`, of methods that can."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

try:
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from reconstruct_job import GRID, PATIENCE, ReconstructTest

ReconstructTest.program, ReconstructTest.recorder, MPIRUN = sys.argv[1:4]
STATUS = re.search(r"^  MPI +(.*)$", subprocess.run([sys.argv[1], "info"], capture_output=True, text=True, timeout=60).stdout, re.MULTILINE)[1]
if "not in this build" in STATUS or not pathlib.Path(MPIRUN).is_file():
    print(f"SKIPPED: MPI is {STATUS}, mpirun is {MPIRUN}")
    sys.exit(77)
# Of a machine with few processors, and of containers, where tests run as root.
TOGETHER = [MPIRUN, "--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else []), "-n"]


def processes(number):
    return [*TOGETHER, str(number)]


class ReconstructTogether(ReconstructTest):
    def test_the_volume_is_the_same_within_rounding(self):
        self.run_job("alone.npy", "--iterations", 5)
        alone = numpy.load(self.path / "alone.npy")
        for number in (2, 3):
            said = self.run_job(f"{number}.npy", "--iterations", 5, before=processes(number))
            self.assertEqual(len(re.findall(r"iteration 5: ", said)), 1, "one process speaks for all")
            self.run_job("again.npy", "--iterations", 5, before=processes(number))
            self.assertEqual(self.bytes_of(f"{number}.npy"), self.bytes_of("again.npy"))
            shared = numpy.load(self.path / f"{number}.npy")
            # Float data of each process, added up in another order.
            self.assertLess(numpy.linalg.norm(shared - alone), 1e-5 * numpy.linalg.norm(alone))

    def test_a_checkpoint_serves_any_number(self):
        self.run_job("whole.npy", "--iterations", 6, before=processes(2))
        state = self.path / "state"
        self.run_job("first.npy", "--iterations", 3, "--checkpoint", state, before=processes(2))
        self.run_job("resumed.npy", "--iterations", 6, "--checkpoint", state, "--resume", before=processes(2))
        self.assertEqual(self.bytes_of("resumed.npy"), self.bytes_of("whole.npy"))
        self.run_job("alone.npy", "--iterations", 9, "--checkpoint", state, "--resume")

    def test_processes_with_other_rules_of_stopping_are_refused(self):
        by_rank = ["sh", "-c", 'exec "$0" "$@" --iterations $((5 + OMPI_COMM_WORLD_RANK))']
        said = self.run_job("none.npy", before=[*processes(2), *by_rank], code=2)
        self.assertEqual(re.findall(r"^echoform: .*", said, re.MULTILINE),
                         [f"echoform: {self.input}: found other data or settings on process 1; expected the same files on every host"])
        self.assertNotIn("none.npy", self.files())

    def image(self, output, text, *arguments, before=(), code=0):
        config = self.write("image.toml", '[tomography]\nalgorithm = "ubp"\n' + text, grid=GRID.replace("[imaging]\n", '[imaging]\nmethod = "tomography"\n'))
        done = subprocess.run([*before, self.program, "image", str(self.input), "--config", str(config), "--output", str(self.path / output), *arguments],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_processes_share_out_the_planes_of_an_image(self):
        self.image("alone.npy", "")
        alone = numpy.load(self.path / "alone.npy")
        self.assertGreater(numpy.abs(alone).max(), 0.0)
        said = self.image("shared.npy", "", before=processes(3))
        self.assertEqual(said.count("wrote "), 1, "one process speaks for all")
        shared = numpy.load(self.path / "shared.npy")
        # Back-projection is exact to some 3e-5, by what voxels that it does at a time have in common: here others are done together.
        self.assertLess(numpy.linalg.norm(shared - alone), 1e-4 * numpy.linalg.norm(alone))
        for said in (self.image("none.npy", "", "--by-groups", before=processes(2), code=2), self.image("none.npy", "", before=processes(17), code=2)):
            self.assertEqual(len([line for line in said.splitlines() if line.startswith("echoform: ") and "ended by SIGTERM" not in line]), 1, said)
        self.assertNotIn("none.npy", self.files())

    def ranks_of(self, process):
        """Process ids, by rank, of mpirun's children."""
        found = {}
        for _ in range(100):
            for entry in pathlib.Path("/proc").iterdir():
                if not entry.name.isdigit():
                    continue
                try:
                    parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                    environment = (entry / "environ").read_bytes().split(b"\0")
                except (OSError, ValueError):
                    continue
                rank = [int(text.split(b"=")[1]) for text in environment if text.startswith(b"OMPI_COMM_WORLD_RANK=")]
                if parent == process.pid and rank:
                    found[rank[0]] = int(entry.name)
            if len(found) == 2:
                return found
            time.sleep(0.05)
        self.fail(f"found ranks {found}")

    def wait_for_the_end_of(self, pids):
        """mpirun's children are somebody else's once it has gone, and may stay zombies."""
        deadline = time.monotonic() + PATIENCE
        for pid in pids:
            while True:
                try:
                    state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                except OSError:
                    break
                if state in "ZX":
                    break
                self.assertLess(time.monotonic(), deadline, f"process {pid} is still {state}")
                time.sleep(0.05)

    def test_the_loss_of_one_ends_all_with_the_last_checkpoint_intact(self):
        for lost in (0, 1):
            with self.subTest(rank=lost):
                state = self.path / f"state{lost}"
                process = self.start("ball.npy", "--iterations", 100000, "--checkpoint", state, "--every", 2, before=processes(2))
                self.wait_for_line(process, "iteration 5:")
                ranks = self.ranks_of(process)
                os.kill(ranks[lost], signal.SIGKILL)
                process.communicate(timeout=PATIENCE)
                self.assertNotEqual(process.returncode, 0)
                self.wait_for_the_end_of(ranks.values())
                self.assertNotIn("ball.npy", self.files())
                said = self.run_job("resumed.npy", "--iterations", 1, "--checkpoint", state, "--resume", before=processes(2))
                self.assertGreaterEqual(int(re.search(r"goes on after (\d+) iterations", said)[1]), 4)

    def test_an_error_is_one_line_of_all(self):
        config = self.write("slow.toml", "", grid="[material]\nlongitudinal_velocity = 1500.0\n")
        said = self.run_job("ball.npy", config=config, before=processes(2), code=2)
        self.assertEqual(len([line for line in said.splitlines() if line.startswith("echoform: ")]), 1, said)
        said = self.run_job("ball.npy", "--checkpoint", self.path / "none" / "state", before=processes(2), code=2)
        self.assertEqual(len([line for line in said.splitlines() if line.startswith("echoform: ")]), 1, said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
