"""`reconstruct --preview`: a subscriber sees iterates, which are those of runs that end there, and nobody's looking changes nothing."""
import re
import socket
import sys
import unittest

try:
    import google.protobuf  # noqa: F401
    import numpy
    import zmq  # noqa: F401
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

import echoform
from reconstruct_job import ReconstructTest

ReconstructTest.program, ReconstructTest.recorder = sys.argv[1:3]
# Total variation never says that nothing is left to be improved.
JOB = '[reconstruction]\nmodel = "spherical"\nsolver = "total_variation"\npenalty = 1e-3\n'
DOORS = '[server]\nname = "mouse"\nimages = "127.0.0.1:0"\nweb = "127.0.0.1:0"\n'


class ReconstructPreview(ReconstructTest):
    def test_a_subscriber_sees_iterates_with_their_residuals(self):
        config = self.write("preview.toml", JOB + DOORS)
        process = self.start("ball.npy", "--iterations", 1000000, "--preview", config=config)
        line = self.wait_for_line(process, "preview: Run: echoform view --connect tcp://")[-1]
        endpoint = re.search(r"tcp://(\S+)", line)[1]
        seen = []
        with echoform.ImageSubscriber(endpoint, stream="mouse", timeout=60, latest_only=True) as images:
            for image in images:
                seen.append((image.sequence, image.view, image.quantity, numpy.array(image.pixels), image.x))
                if len(seen) == 3:
                    break
        process.kill()
        process.wait()
        residuals = []
        for (sequence, view, quantity, pixels, x), before in zip(seen, [0] + [one[0] for one in seen]):
            self.assertGreater(sequence, before)
            self.assertEqual(quantity, ("initial pressure", ""))
            self.assertEqual((pixels.shape, pixels.dtype), ((16, 16, 16), numpy.float32))
            self.assertAlmostEqual(x[0], -3e-3)
            self.assertAlmostEqual(x[-1], 3e-3)
            residuals.append(float(re.fullmatch(rf"iteration {sequence}, residual ([0-9.e+-]+)", view)[1]))
        sequence, _, _, pixels, _ = seen[0]
        said = self.run_job("whole.npy", "--iterations", sequence, config=self.write("job.toml", JOB))
        self.assertTrue(numpy.array_equal(numpy.load(self.path / "whole.npy"), pixels))
        self.assertAlmostEqual(float(re.findall(r"residual ([0-9.e+-]+)", said)[-1]) / residuals[0], 1.0, delta=1e-3)  # four digits

    def test_where_nobody_looks_it_is_the_same_volume(self):
        self.run_job("plain.npy", "--iterations", 5, config=self.write("job.toml", JOB))
        said = self.run_job("preview.npy", "--iterations", 5, "--preview", config=self.write("preview.toml", JOB + DOORS))
        self.assertIn("preview: Open http://127.0.0.1:", said)
        self.assertEqual(self.bytes_of("preview.npy"), self.bytes_of("plain.npy"))

    def test_a_port_in_use_is_one_line_before_anything_is_reckoned(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            doors = DOORS.replace('images = "127.0.0.1:0"', f'images = "127.0.0.1:{taken.getsockname()[1]}"')
            said = self.run_job("ball.npy", "--preview", config=self.write("preview.toml", JOB + doors), code=1)
        self.assertEqual(len(re.findall(r"^echoform: ", said, re.MULTILINE)), 1, said)
        self.assertNotIn("ball.npy", self.files())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
