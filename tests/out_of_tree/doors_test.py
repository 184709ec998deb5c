"""The program of examples/sink_and_source: frames come by its source, strongest pixels go to its sink, and both tell what they
count wherever doors of the tree do."""
import json
import re
import shutil
import tomllib
import unittest
import urllib.request

import numpy

import echoform
from program_case import EXAMPLE, PROGRAM, ProgramCase

try:
    import google.protobuf  # noqa: F401
    import zmq  # noqa: F401
    live = True
except ImportError:
    live = False

CONFIG = EXAMPLE / "serve.toml"
SETTINGS = tomllib.loads(CONFIG.read_text())
RAW = SETTINGS["raw_file"]
# In the middle of a pixel, as the grid is symmetrical.
PLACES = [(-0.005, 0.012), (0.004, 0.018)]


def frame(place):
    """[tx, rx, sample] of 16 bits: one scatterer."""
    elements = (numpy.arange(RAW["elements"]) - 0.5 * (RAW["elements"] - 1)) * RAW["pitch"]
    way = numpy.hypot(place[0] - elements, place[1]) / SETTINGS["material"]["longitudinal_velocity"]
    t = numpy.arange(RAW["samples"]) / RAW["sample_rate"] - (way[:, None, None] + way[None, :, None])
    return (1e4 * numpy.exp(-0.5 * (t / 0.2e-6) ** 2) * numpy.cos(2 * numpy.pi * 5e6 * t)).astype("<i2")


class Doors(ProgramCase):
    def settings(self):
        (self.path / "frames.raw").write_bytes(b"".join(frame(place).tobytes() for place in PLACES))
        settings = {section: dict(keys) for section, keys in SETTINGS.items()}
        settings["raw_file"]["path"] = str(self.path / "frames.raw")
        settings["strongest"] = {"file": str(self.path / "strongest.csv"), "every": 3}
        settings["imaging"] = {"backend": "cpu"}
        return settings

    def metric(self, server, name):
        with urllib.request.urlopen(server.web + "metrics", timeout=60) as answer:
            text = answer.read().decode()
        return text, {labels: float(value) for labels, value in re.findall(rf"^echoform_{name}(\{{.*?\}})? (\S+)$", text, re.MULTILINE)}

    @unittest.skipUnless(live, "no pyzmq or protobuf")
    def test_frames_come_and_lines_go(self):
        with echoform.Server(self.settings(), program=PROGRAM) as server:
            # Its address is in the lines of the start, as that of every door.
            with echoform.ImageSubscriber(server.images, timeout=60) as images:
                seen = [images.receive() for _ in range(4)]
            self.assertTrue(all(image.pixels.shape == (97, 97) for image in seen))
            with echoform.TelemetrySubscriber(server.telemetry, timeout=60) as telemetry:
                report = telemetry.receive()
                while report.sinks["strongest"]["lines"].value < 5 or report.doors["raw_file"].shots_received < 100:
                    report = telemetry.receive()
            self.assertTrue(report.closed)
            self.assertEqual((report.doors["raw_file"].accepted, report.doors["raw_file"].open, report.doors["raw_file"].rejected), (1, 1, 0))
            figures = report.sinks["strongest"]
            self.assertEqual({name: figure.counts for name, figure in figures.items()},
                             {"lines": True, "failures": True, "setups": True, "value": False})
            self.assertEqual((figures["failures"].value, figures["setups"].value), (0.0, 1.0))
            self.assertGreater(figures["value"].value, 0.0)
            self.assertEqual(figures["lines"].help, "Lines written.")

            text, lines = self.metric(server, "sink_lines_total")
            self.assertGreaterEqual(lines['{sink="strongest"}'], figures["lines"].value)
            self.assertIn("# HELP echoform_sink_lines_total Lines written.\n# TYPE echoform_sink_lines_total counter\n", text)
            self.assertIn("# TYPE echoform_sink_value gauge\n", text)
            self.assertGreaterEqual(self.metric(server, "door_senders_total")[1]['{door="raw_file",outcome="accepted"}'], 1.0)
            with echoform.Control(server.control) as control:
                self.assertRegex(control.status()[0], r"^strongest: lines \d+, failures 0, setups 1, value \d")
            self.assertRegex(self.run_program("control", "--connect", server.control, "status"), r"strongest: lines \d+, failures 0")
            # The page asks the same way.
            request = urllib.request.Request(server.web + "control", b'{"action": "status"}', {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                self.assertRegex(json.load(answer)["sinks"][0], "^strongest: lines")
            last = server.stop()
        output = "\n".join(server.output)
        self.assertRegex(output, rf"raw file +{re.escape(str(self.path))}/frames\.raw\n")
        self.assertRegex(output, r"strongest +every 3\. frame to ")
        received, published, dropped, in_flight = map(int, re.search(
            r"frames received (\d+) = published (\d+) \+ dropped (\d+) \+ in flight (\d+)", "\n".join(last)).groups())
        self.assertEqual(received, published + dropped + in_flight)
        self.assertIn(f"strongest pixels {(published + 2) // 3} lines", last)
        self.lines_are_right(published)

    def lines_are_right(self, published):
        """One for every third frame, and each at the frame's scatterer."""
        header, *lines = (self.path / "strongest.csv").read_text().splitlines()
        self.assertEqual(header, "sequence,view,x,z,value")
        self.assertEqual(len(lines), (published + 2) // 3)
        pixel = (SETTINGS["grid"]["x"][1] - SETTINGS["grid"]["x"][0]) / (SETTINGS["grid"]["pixels"][0] - 1)
        for line in lines:
            sequence, view, x, z, value = line.split(",")
            self.assertEqual(view, "LL")
            wanted = PLACES[int(sequence) % 2]
            # The places are pixels' own; a pixel is a fifth of the wavelength.
            self.assertLessEqual(numpy.hypot(float(x) - wanted[0], float(z) - wanted[1]), 1.5 * pixel, line)
            self.assertGreater(float(value), 0.0)

    def test_commands_know_their_keys(self):
        keys = self.run_program("info", "--config-keys")
        for section, key in (("raw_file", "frames_per_second"), ("strongest", "every")):
            self.assertIn(f"[{section}]", keys)
            self.assertIn(f"`{key}`", keys)
        # Beside it the doors of the tree stand open: the demo's frames come over TCP.
        config = self.path / "demo.toml"
        doors = "".join(f'{key} = "127.0.0.1:0"\n' for key in ("images", "telemetry", "control", "web"))
        config.write_text(f'[strongest]\nfile = "strongest.csv"\n[input]\nlisten = "127.0.0.1:0"\n[grid]\nx = [-0.018, 0.018]\nz = [0.003, 0.039]\n'
                          f"pixels = [64, 64]\n[server]\n{doors}")
        self.run_program("demo", "--config", config, "--seconds", "1")
        self.assertGreater(len((self.path / "strongest.csv").read_text().splitlines()), 1)

    def test_bad_values_get_one_line(self):
        shutil.copy(CONFIG, self.path / "serve.toml")
        line = self.bad_line("serve", replace="every = 2", text="every = 0")
        self.assertIn("[strongest] every: found 0; expected an integer, 1 to", line)
        line = self.bad_line("serve", replace="[strongest]", text="[strongset]")
        self.assertIn("the nearest is [strongest]", line)
        line = self.bad_line("serve", replace="[raw_file]", text='[input]\nlisten = "127.0.0.1:0"\n\n[raw_file]')
        self.assertIn("[raw_file] path: found No such file or directory; expected a file of whole frames of 1179648 bytes", line)
        (self.path / "frames.raw").write_bytes(b"some")
        line = self.bad_line("serve", replace="[raw_file]", text='[input]\nlisten = "127.0.0.1:0"\n\n[raw_file]')
        self.assertIn("[raw_file] path: found a file of 4 bytes; expected a file of whole frames", line)


if __name__ == "__main__":
    unittest.main(argv=["doors_test.py"])
