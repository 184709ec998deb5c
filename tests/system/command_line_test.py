"""Exit codes and messages of the program: 0 done, 1 the run failed, 2 wrong input; one line says why."""
import json
import math
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

PROGRAM = sys.argv[1]
SOURCE = pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"])
COMMANDS = ["demo", "serve", "simulate", "instrument", "replay", "view", "record", "capture", "inspect", "convert", "image", "reconstruct", "plan", "bench", "keygen", "info"]


def run(*arguments, timeout=60):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.path / name
        path.write_text(text)
        return path

    def assert_fault(self, result, code, line):
        self.assertEqual(result.returncode, code, result.stderr)
        faults = [text for text in result.stderr.splitlines() if text.startswith("echoform: ")]
        self.assertEqual(faults, ["echoform: " + line])

    def test_help_names_every_command_and_each_has_an_example(self):
        overview = run("--help")
        self.assertEqual(overview.returncode, 0)
        for command in COMMANDS:
            self.assertIn(command, overview.stdout)
            page = run(command, "--help")
            self.assertEqual(page.returncode, 0)
            self.assertIn(f"echoform {command}", page.stdout)
            self.assertIn("Example:", page.stdout)

    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^echoform \d+\.\d+\.\d+\n$")

    def test_info_says_what_this_build_can_do(self):
        result = run("info")
        self.assertEqual(result.returncode, 0)
        for word in ("backends", "cpu", "cuda", "delay laws", "contact", "libraries", "Boost", "ZeroMQ", "HDF5", "limits"):
            self.assertIn(word, result.stdout)

    def test_info_prints_the_configuration_page(self):
        result = run("info", "--config-keys")
        self.assertEqual(result.stdout, (SOURCE / "docs/configuration.md").read_text())

    def test_info_prints_the_page_of_formats(self):
        self.assertEqual(run("info", "--formats").stdout, (SOURCE / "docs/formats.md").read_text())
        self.assertEqual(run("info", "--formats", "--config-keys").returncode, 2)

    def test_no_command(self):
        self.assertEqual(run().returncode, 2)

    def test_unknown_command_and_option(self):
        self.assertEqual(run("imagine").returncode, 2)
        result = run("info", "--colour")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--colour", result.stderr)
        self.assertIn("echoform info --help", result.stderr)

    def test_option_without_its_value(self):
        self.assertEqual(run("demo", "--seconds").returncode, 2)
        self.assertEqual(run("demo", "--seconds", "soon").returncode, 2)
        self.assertEqual(run("demo", "--seconds", "-1").returncode, 2)

    def test_what_is_not_known_is_named_before_what_is_missing(self):
        self.assert_fault(run("image", "x.mat", "--outptu", "o.npy"), 2,
                          'found "--outptu", which echoform image does not know (see `echoform image --help`)')
        self.assert_fault(run("imag"), 2, 'found "imag", which echoform does not know (see `echoform --help`)')

    def test_missing_required_option(self):
        result = run("serve")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--config", result.stderr)

    def automatic_backend(self):
        """What auto comes to here: ("cuda", "") or ("cpu", why it is not the GPU)."""
        lines = [line.split(maxsplit=1)[1] for line in run("info").stdout.splitlines() if line.startswith("  auto ")]
        self.assertEqual(len(lines), 1)
        return ("cuda", "") if lines[0].startswith("cuda") else tuple(lines[0].split(": ", 1))

    def test_a_backend_that_is_not_to_be_had_ends_the_run_with_the_reason(self):
        backend, reason = self.automatic_backend()
        if backend == "cuda":
            self.skipTest("there is a GPU")
        started = time.monotonic()
        self.assert_fault(run("demo", "--backend", "cuda", "--seconds", 1), 1, f"backend cuda: {reason}; use cpu or auto")
        config = self.write("gpu.toml", '[imaging]\nbackend = "cuda"\n[material]\nlongitudinal_velocity = 6320.0\n')
        for arguments in (("demo", "--config", config, "--seconds", 1), ("serve", "--config", config),
                          ("image", self.path / "none.mat", "--config", config, "--output", self.path / "out.npy")):
            self.assert_fault(run(*arguments), 1, f"backend cuda: {reason}; use cpu or auto")
        self.assertLess(time.monotonic() - started, 20, "asked before any work is done")

    def test_auto_says_where_images_are_formed_and_why(self):
        backend, reason = self.automatic_backend()
        result = run("demo", "--seconds", 2)
        self.assertEqual(result.returncode, 0, result.stderr)
        said = [line for line in result.stderr.splitlines() if "images are formed on" in line]
        self.assertEqual(len(said), 1, result.stderr)
        self.assertIn("on GPU 0" if backend == "cuda" else f"on the CPU; not on a GPU: {reason}", said[0])
        named = run("demo", "--seconds", 2, "--backend", "cpu")
        self.assertEqual(named.returncode, 0, named.stderr)
        self.assertNotIn("images are formed on", named.stderr)

    def test_unknown_backend(self):
        self.assert_fault(run("demo", "--backend", "fpga"), 2, '--backend: found "fpga"; expected auto, cpu, cuda or cuda:DEVICE')
        self.assert_fault(run("demo", "--backend", "cuda:first"), 2,
                          '--backend: found "cuda:first"; expected cuda: and the number of a device (see `echoform info`)')

    def test_keygen_writes_a_pair_once(self):
        prefix = self.path / "server"
        result = run("keygen", "--output", prefix)
        self.assertEqual(result.returncode, 0, result.stderr)
        secret, public = prefix.with_suffix(".secret"), prefix.with_suffix(".public")
        self.assertEqual(secret.stat().st_mode & 0o777, 0o600)
        key = public.read_text().split('"')[1]
        self.assertEqual(len(key), 40)
        self.assertIn(key, result.stdout)
        self.assertNotIn(secret.read_text().split('"')[3], result.stdout + result.stderr)
        before = secret.read_bytes()
        self.assert_fault(run("keygen", "--output", prefix), 2,
                          f"{secret}: found a file that exists; expected a new name: keys are not overwritten")
        self.assertEqual(secret.read_bytes(), before)

    def test_a_secret_key_that_others_may_read_is_refused(self):
        run("keygen", "--output", self.path / "server")
        secret = self.path / "server.secret"
        secret.chmod(0o644)
        config = self.write("scan.toml", '[material]\nlongitudinal_velocity = 6300\n[curve]\nsecret_key_file = "server.secret"\n'
                            '[input]\nlisten = "127.0.0.1:0"\n[server]\nimages = "127.0.0.1:0"\n')
        self.assert_fault(run("serve", "--config", config), 2,
                          f"{config}: [curve] secret_key_file: {secret}: found permissions 644; "
                          "expected a secret key that others have no access to (chmod 600)")

    def test_a_key_without_the_servers_is_refused(self):
        self.assert_fault(run("view", "--key", "mine.secret"), 2,
                          "--key: found it without --server-key; expected both: a client with CURVE knows its server by its public key")

    def test_missing_configuration(self):
        path = self.path / "none.toml"
        self.assert_fault(run("serve", "--config", path), 2, f"{path}: found no such file; expected a TOML file")

    def test_bad_configuration_names_file_line_and_key(self):
        config = self.write("bad.toml", "[grid]\npixles = [10, 10]\n")
        self.assert_fault(run("serve", "--config", config), 2,
                          f"{config}:2: found the unknown key pixles in [grid]; expected a known key; the nearest is pixels in [grid]")

    def test_serve_needs_a_velocity(self):
        config = self.write("serve.toml", "[grid]\npixels = [16, 16]\n")
        self.assert_fault(run("serve", "--config", config), 2,
                          f'{config}: [material] longitudinal_velocity: found no value; expected a velocity in m/s, '
                          'which view "LL" needs and senders do not state')

    def test_missing_recording_leaves_nothing_behind(self):
        output = self.path / "out.npy"
        result = run("image", self.path / "none.mat", "--output", output)
        self.assertEqual(result.returncode, 2)
        self.assertIn("none.mat", result.stderr)
        self.assertEqual(list(self.path.iterdir()), [])

    def test_unknown_output_kind_is_refused_before_any_work(self):
        recording = self.write("empty.mat", "")
        result = run("image", recording, "--output", self.path / "out.bmp")
        self.assertEqual(result.returncode, 2)
        self.assertIn("out.bmp", result.stderr)
        self.assertEqual(list(self.path.iterdir()), [recording])

    def test_empty_recording(self):
        recording = self.write("empty.mat", "")
        result = run("image", recording, "--output", self.path / "out.npy")
        self.assertEqual(result.returncode, 2)
        self.assertIn("empty.mat", result.stderr)
        self.assertEqual(list(self.path.iterdir()), [recording])

    def test_bad_field(self):
        result = run("image", "none.mat", "--field", "phase", "--output", self.path / "out.npy")
        self.assert_fault(result, 2, '--field: found "phase"; expected envelope or analytic')

    def test_bad_place_and_rate(self):
        self.assert_fault(run("simulate", "--connect", "nowhere"), 2,
                          '--connect: found "nowhere"; expected HOST:PORT with a port from 0 to 65535')
        result = run("simulate", "--rate", "fast")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--rate", result.stderr)

    def test_counts_below_zero(self):
        for command, option in (("simulate", "--frames"), ("simulate", "--seed"), ("view", "--frames"), ("demo", "--seed")):
            with self.subTest(f"{command} {option}"):
                result = run(command, option, "-2")
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(f'{option}: found "-2"; expected a whole number from 0', result.stderr)
        result = run("simulate", "--connections", "9")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--connections", result.stderr)

    def test_interrupted_before_the_server_answers(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            sender = subprocess.Popen([PROGRAM, "simulate", "--connect", f"127.0.0.1:{silent.getsockname()[1]}"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(sender.wait)
            self.addCleanup(sender.kill)  # first: one that did not end must not outlive the test
            silent.settimeout(30)
            connection, _ = silent.accept()
            with connection:
                sender.send_signal(signal.SIGINT)
                output, _ = sender.communicate(timeout=10)
            self.assertEqual(sender.returncode, 0)
            self.assertIn("sent 0 frames", output)

    def test_bench_says_what_it_cannot_measure(self):
        figures = self.path / "figures.json"
        self.assert_fault(run("bench", "none", "--json", figures), 2,
                          'bench: found "none"; expected tfm, compounding, schedules, frame, views, positions, hilbert, decoding, scan, lines, flow, tomography, delays, filters, ingest, micropulse, openigtlink, stream, record, all')
        self.assert_fault(run("bench", "tfm", "--backend", "fpga"), 2, '--backend: found "fpga"; expected auto, cpu or cuda')
        self.assert_fault(run("bench", "schedules", "--backend", "cpu", "--json", figures), 2,
                          "bench schedules: found --backend cpu; expected cuda or auto: it measures nothing on the CPU")
        backend, reason = self.automatic_backend()
        if backend == "cpu":
            self.assert_fault(run("bench", "schedules", "--json", figures), 1, f"bench schedules needs a GPU: {reason}")
            self.assert_fault(run("bench", "tfm", "--backend", "cuda", "--json", figures), 1,
                              f"backend cuda: {reason}; use cpu or auto")
        self.assertFalse(figures.exists())

    ALUMINIUM = """
[material]
longitudinal_velocity = 6320.0
shear_velocity = 3130.0
[grid]
x = [-0.010, 0.010]
z = [0.005, 0.025]
pixels = [41, 81]
[imaging]
views = ["LL", "LT", "TT"]
backend = "cpu"
[simulator]
elements = 16
pitch = 0.65e-3
element_width = 0.6e-3
centre_frequency = 5e6
fractional_bandwidth = 0.6
samples = 512
"""

    def test_plan_says_what_a_set_up_gives(self):
        # Closed forms below are of the pulse as the probe has it.
        config, figures = self.write("plan.toml", self.ALUMINIUM + '[filter]\nkind = "none"\n'), self.path / "figures.json"
        result = run("plan", "--config", config, "--json", figures, "--link", 1, "--no-measure")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = {line[:11].strip(): line[12:] for line in result.stdout.splitlines()}
        self.assertTrue(rows["wavelength"].startswith("L 1.264 mm, T 0.626 mm"), rows)
        self.assertNotIn("images", rows)
        values = json.loads(figures.read_text())
        aperture = 15 * 0.65e-3 + 0.6e-3
        self.assertAlmostEqual(values["aperture"], aperture)
        self.assertAlmostEqual(values["near_field"]["T"], aperture ** 2 / (4 * 0.626e-3))
        # Closed forms for one frequency and rays along z alone: an aperture of two thirds of the depth and a pulse of 60 % are within
        # a twentieth of them.
        lateral = 0.8859 * 1.264e-3 / 2 * math.hypot(aperture / 2, 0.015) / (aperture / 2)
        self.assertLess(abs(values["lateral_resolution"]["LL"] / lateral - 1), 0.05)
        axial = 4 * math.log(2) / math.pi / 3e6 / (1 / 6320 + 1 / 3130)
        self.assertLess(abs(values["axial_resolution"]["LT"] / axial - 1), 0.05)
        self.assertEqual(values["resolution_at"]["LL"], [0.0, 0.015])
        self.assertEqual(values["unreached"], {"LL": 0.0, "LT": 0.0, "TT": 0.0})
        self.assertAlmostEqual(values["pitch_per_wavelength"]["T"], 0.65 / 0.626)
        # T at 5 mm, half of the aperture's length: from a third to a sixth of a wavelength (tests/methods/point_spread_test.cpp has the numbers).
        self.assertEqual(values["coarsest_pixel"]["view"], "TT")
        self.assertLess(values["coarsest_pixel"]["envelope"], 0.626e-3 / 3)
        self.assertGreater(values["coarsest_pixel"]["envelope"], 0.626e-3 / 6)
        self.assertLess(values["coarsest_pixel"]["oscillating"], 0.626e-3 / 8)
        self.assertGreater(values["pixel_loss_db"], 6)
        self.assertEqual(values["frame_bytes"], 16 * 16 * 512 * 2)
        self.assertAlmostEqual(values["links"][0]["frames_per_second"], 1e9 / 8 / values["frame_bytes"])
        # The pitch for T; pixels of 0.5 and 0.25 mm; 25 mm as TT are 16 us, 640 samples of 512.
        said = [line for line in result.stdout.splitlines() if line.startswith("warning: ")]
        self.assertEqual(said, ["warning: " + line for line in values["warnings"]])
        self.assertEqual(len(said), 3, result.stdout)
        self.assertIn("the pitch of 0.65 mm is above a wavelength of mode T, 0.626 mm", said[0])
        self.assertRegex(said[1], r"pixels of 0.5 mm by 0.25 mm are too coarse: an echo between them can lose .* in TT at .*; \d+ x \d+ pixels")
        self.assertRegex(said[2], r"the A-scan ends with 511: .* of the pixels of TT stay dark")

    def test_plan_of_a_good_set_up_warns_of_nothing_and_measures(self):
        text = self.ALUMINIUM.replace('["LL", "LT", "TT"]', '["LL"]').replace("[41, 81]", "[64, 64]")
        result = run("plan", "--config", self.write("plan.toml", text))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("warning:", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^images +[0-9.e+]+ images/s here, .*cpu")

    def test_plan_says_what_the_crop_keeps_beside_the_image(self):
        text = self.ALUMINIUM.replace('["LL", "LT", "TT"]', '["LL"]')
        config, figures = self.write("plan.toml", text.replace("samples = 512", "samples = 4096")), self.path / "figures.json"
        result = run("plan", "--config", config, "--json", figures, "--no-measure")
        self.assertEqual(result.returncode, 0, result.stderr)
        samples = json.loads(figures.read_text())["samples"]
        self.assertGreaterEqual(samples["before"], min(64, samples["reached"][0]))
        self.assertLessEqual(samples["before"], 64 + 7)
        asked = samples["reached"][1] + 64 + 1 - samples["first"]
        self.assertGreaterEqual(samples["behind"], 64)
        self.assertLessEqual(samples["imaged"], 1.125 * asked + 24)
        self.assertIn(f"{samples['behind']:.0f} behind are guard", result.stdout)

    def test_plan_says_what_no_ray_reaches_and_what_is_blind(self):
        # Half of the grid lies beyond the backwall, at 14.6 mm, which is seen on the way out alone.
        text = self.ALUMINIUM.replace('["LL", "LT", "TT"]', '["LL-L"]') + "\n[backwall]\nkind = \"plane\"\nz = 0.0146\n"
        config, figures = self.write("plan.toml", text), self.path / "figures.json"
        result = run("plan", "--config", config, "--json", figures, "--no-measure")
        self.assertEqual(result.returncode, 0, result.stderr)
        values = json.loads(figures.read_text())
        self.assertAlmostEqual(values["unreached"]["LL-L"], 42 / 81)  # rows from 14.75 mm on
        warning = "no ray reaches 52 % of the pixels of LL-L: they stay dark, whatever is there"
        self.assertIn("warning: " + warning, result.stdout)
        self.assertIn("warning: view LL-L is nearly blind along 90 degrees", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^unreached +LL-L 51.9 % of the pixels")

    def test_plan_of_sparse_firings_says_what_is_whose(self):
        text = self.ALUMINIUM.replace('["LL", "LT", "TT"]', '["LL"]').replace("samples = 512", "samples = 512\nfire = [1, 6, 11]")
        config, figures = self.write("plan.toml", text), self.path / "figures.json"
        result = run("plan", "--config", config, "--json", figures, "--no-measure")
        self.assertEqual(result.returncode, 0, result.stderr)
        values = json.loads(figures.read_text())
        self.assertEqual(values["firing"], 3)
        self.assertAlmostEqual(values["firing_pitch"], 5 * 0.65e-3)
        self.assertAlmostEqual(values["firing_pitch_per_wavelength"]["L"], 5 * 0.65 / 1.264)
        self.assertAlmostEqual(values["pitch_per_wavelength"]["L"], 0.65 / 1.264)
        self.assertRegex(result.stdout, r"(?m)^pitch +0.65 mm: L 0.514 wavelengths")
        self.assertRegex(result.stdout, r"(?m)^firing +3 of 16 elements fire, 3.25 mm apart: L 2.57 wavelengths \(a grating lobe at every angle\)")
        self.assertIn("warning: the way out alone: the distance of elements that fire of 3.25 mm is above a wavelength of mode L", result.stdout)
        # The longest way is from the second or the twelfth element to a far corner and back to the element at the other end.
        way = lambda x, x0: math.hypot(x - x0, 0.025) / 6320
        at = [(k - 7.5) * 0.65e-3 for k in range(16)]
        last = max(way(x, at[tx]) + way(x, rx) for x in (-0.01, 0.01) for tx in (1, 6, 11) for rx in at)
        self.assertEqual(values["samples"]["reached"][1], math.floor(last * 40e6) + 1)

    def test_plan_of_an_array_in_water(self):
        figures = self.path / "figures.json"
        example = SOURCE / "examples" / "wedge_shear.toml"
        result = run("plan", "--config", example, "--json", figures, "--no-measure")
        self.assertEqual(result.returncode, 0, result.stderr)
        values = json.loads(figures.read_text())
        self.assertAlmostEqual(values["pitch_per_wavelength"]["couplant"], 0.6 / 0.466)
        # 12 mm below the array's middle, along a normal 36 degrees askew.
        self.assertAlmostEqual(values["near_field"]["T"] - values["near_field_left"]["T"],
                               0.012 / math.cos(math.radians(36)) * 2330 / 3230)
        # An image of such a point is 1.5 mm long and stands at 116 degrees (tests/simulators/spot_image_test.cpp).
        self.assertAlmostEqual(values["lateral_resolution"]["TT"], 1.5e-3, delta=0.1e-3)
        self.assertAlmostEqual(values["lateral_degrees"]["TT"], 116, delta=3)
        self.assertTrue(all(abs(lobe["couplant_degrees"]) < 90 for lobe in values["grating_lobes"]))
        self.assertIn("warning: grating lobes enter the part, of T as", result.stdout)

    def test_plan_without_velocities_or_recording(self):
        config = self.write("plan.toml", "[grid]\npixels = [16, 16]\n")
        figures = self.path / "figures.json"
        self.assertIn("--config", run("plan").stderr)
        result = run("plan", "--config", config, "--recording", self.path / "none.mfmc", "--json", figures)
        self.assertEqual(result.returncode, 2)
        self.assertIn("none.mfmc", result.stderr)
        self.assertFalse(figures.exists())

    def test_nobody_listens(self):
        with socket.socket() as place:  # bound, not listening: the port is ours and refuses
            place.bind(("127.0.0.1", 0))
            result = run("simulate", "--connect", f"127.0.0.1:{place.getsockname()[1]}", "--frames", 1)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(str(place and "127.0.0.1"), result.stderr)

    def serve_config(self, **ports):
        places = {"listen": "127.0.0.1:0", "images": "127.0.0.1:0", "telemetry": "127.0.0.1:0", "web": "127.0.0.1:0", "control": "127.0.0.1:0"} | ports
        return self.write("serve.toml", f"""
[material]
longitudinal_velocity = 6320.0
[grid]
x = [-0.01, 0.01]
z = [0.005, 0.03]
pixels = [16, 16]
[input]
listen = "{places['listen']}"
[server]
images = "{places['images']}"
telemetry = "{places['telemetry']}"
web = "{places['web']}"
control = "{places['control']}"
""")

    def test_no_address_to_listen_on(self):
        for section, key in (("input", "listen"), ("server", "images"), ("server", "telemetry"), ("server", "control"), ("server", "web")):
            with self.subTest(key):
                path = self.serve_config(**{key: "localhost:0"})
                self.assert_fault(run("serve", "--config", path), 2,
                                  f'{path}: [{section}] {key}: found "localhost:0"; expected ADDRESS:PORT with an IPv4 or IPv6 '
                                  'address of this machine')

    def test_keys_and_token_of_a_server(self):
        for name in ("server", "friend", "stranger"):
            self.assertEqual(run("keygen", "--output", self.path / name).returncode, 0)
        (self.path / "clients").mkdir()
        (self.path / "friend.public").rename(self.path / "clients" / "friend.public")
        path = self.serve_config()
        path.write_text(path.read_text() + 'token = "open sesame"\n[curve]\nsecret_key_file = "server.secret"\nclient_keys = "clients"\n')
        server = subprocess.Popen([PROGRAM, "serve", "--config", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        places = {}
        while not {"viewer", "control", "telemetry"} <= places.keys():
            label, *place = server.stdout.readline().split()
            places[label] = place[-1]

        def get(*keys):
            return run("control", "get", "--connect", places["control"], "--timeout", 2, *keys)

        def metrics(token):
            return urllib.request.urlopen(f"{places['viewer']}metrics?token={urllib.parse.quote(token)}").read().decode()

        key = ("--server-key", self.path / "server.public")
        friend = get(*key, "--key", self.path / "friend.secret")
        self.assertEqual(friend.returncode, 0, friend.stderr)
        self.assertIn("dynamic_range", friend.stdout)
        for stranger in ((), key, (*key, "--key", self.path / "stranger.secret"),
                         ("--server-key", self.path / "stranger.public", "--key", self.path / "friend.secret")):
            result = get(*stranger)
            self.assertEqual(result.returncode, 1, stranger)
            self.assertEqual(result.stdout, "")
        for token in ("", "open"):
            with self.assertRaises(urllib.error.HTTPError) as refusal:
                metrics(token)
            self.assertEqual(refusal.exception.code, 401)
            refusal.exception.close()
        counted = metrics("open sesame")
        self.assertRegex(counted, r'echoform_peers_refused_total\{door="control",reason="wrong_key"\} [1-9]')
        self.assertRegex(counted, r'echoform_peers_refused_total\{door="control",reason="bad_handshake"\} [1-9]')
        self.assertIn('echoform_peers_refused_total{door="web",reason="wrong_token"} 2', counted)

    def test_port_in_use(self):
        for key in ("listen", "images", "telemetry", "web"):
            with self.subTest(key), socket.socket() as taken:
                taken.bind(("127.0.0.1", 0))
                taken.listen()
                port = taken.getsockname()[1]
                result = run("serve", "--config", self.serve_config(**{key: f"127.0.0.1:{port}"}))
                self.assertEqual(result.returncode, 1, result.stderr)
                faults = [line for line in result.stderr.splitlines() if line.startswith("echoform: ")]
                self.assertEqual(len(faults), 1, result.stderr)
                self.assertIn(str(port), faults[0])

    def test_serve_ends_in_order_on_a_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = subprocess.Popen([PROGRAM, "serve", "--config", str(self.serve_config())], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
            self.addCleanup(server.wait)
            self.addCleanup(server.kill)  # first: a server that did not end must not outlive the test
            lines = []
            while not any("telemetry" in line for line in lines):  # the last of the addresses
                lines.append(server.stdout.readline())
                self.assertTrue(lines[-1], "".join(lines))
            server.send_signal(number)
            output, _ = server.communicate(timeout=30)
            self.assertEqual(server.returncode, 0)
            self.assertIn("frames received 0 = published 0 + dropped 0 + in flight 0", output)

    def test_view_fails_if_nothing_comes(self):
        snapshot = self.path / "last.png"
        with socket.socket() as place:
            place.bind(("127.0.0.1", 0))
            result = run("view", "--connect", f"tcp://127.0.0.1:{place.getsockname()[1]}", "--timeout", 0.2, "--snapshot", snapshot)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no image came", result.stderr)
        self.assertFalse(snapshot.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
