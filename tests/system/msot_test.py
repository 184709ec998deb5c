"""Scans of iThera's MSOT, made as text and bytes alone: where a ball is imaged, field by field, and one line for what is wrong."""
import re
import subprocess
import sys
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import PROGRAM, ProgramCase

C = 1500.0
RATE = 40e6
TICKS_UNTIL_1970 = 621355968000000000


def arc(count=256):
    """[detector, 3] in the scanner's coordinates: radius 40.5 mm from -44.47 to 224.47 degrees, with the gap at -y."""
    angles = numpy.radians(numpy.linspace(-44.47, 224.47, count))
    return 0.0405 * numpy.stack([numpy.cos(angles), numpy.sin(angles), 0 * angles], axis=1)


def projection(place):
    values = "".join(f'<VALUE axis-ref="{axis}">{value:.17g}</VALUE>' for axis, value in enumerate(place, 1))
    return f"<PROJECTION>{values}</PROJECTION>"


def pulse(number, wavelength, energy):
    return (f'<DataModelScanFrame><IDOffset>{number}</IDOffset><Frame timestamp="{TICKS_UNTIL_1970 + 10**7 * (1000 + number)}" '
            f'ultraSound-frame-offset="0"><TEMPERATURE>34.0</TEMPERATURE><WAVELENGTH>{wavelength}</WAVELENGTH><POWER>1</POWER>'
            f'<LASER-ENERGY>{energy}</LASER-ENERGY><RUN>0</RUN></Frame></DataModelScanFrame>')


def description(places, samples, wavelengths, pulses, *, energies=(), more=""):
    """`pulses` that are stated, of `energies` by turns."""
    light = "".join(f"<WAVELENGTH>{wavelength}</WAVELENGTH>" for wavelength in wavelengths)
    frames = "".join(pulse(k, wavelengths[k % len(wavelengths)], energies[k % len(energies)] if energies else "") for k in range(pulses))
    return f"""<?xml version="1.0" encoding="utf-8"?>
<DataModelMsotProject><FriendlyName>Scan &amp; test</FriendlyName>
<ScanNode><ScanFrames>{frames}</ScanFrames>
<MEASUREMENT-DESC xmlns="Header_Schema">{more}<SPEED-OF-SOUND-UPPER-SLIDER-LIMI.>200</SPEED-OF-SOUND-UPPER-SLIDER-LIMI.>
<WAVELENGTHS number="{len(wavelengths)}">{light}</WAVELENGTHS><RECORDED-LENGTH>{samples}</RECORDED-LENGTH></MEASUREMENT-DESC>
<HARDWARE-DESC><SAMPLING-FREQUENCY>{RATE / 1e6:g}</SAMPLING-FREQUENCY></HARDWARE-DESC>
<FRAME-DESC xmlns="Header_Schema">{"".join(projection(place) for place in places)}</FRAME-DESC></ScanNode>
<ReconNode><FRAME-DESC>{projection((9, 9, 9))}</FRAME-DESC><WAVELENGTHS><WAVELENGTH>1</WAVELENGTH></WAVELENGTHS></ReconNode>
</DataModelMsotProject>
"""


def ball(places, centre, radius=1.5e-3, samples=2030):
    """Pressure at `places` [detector, 3] of a ball of pressure 1: (r - c t) / (2 r) while that is within the ball."""
    r = numpy.linalg.norm(places - centre, axis=1)[:, None]
    ahead = r - C / RATE * numpy.arange(samples)
    return numpy.where(numpy.abs(ahead) < radius, ahead / (2 * r), 0.0)


class Msot(ProgramCase):
    def setUp(self):
        super().setUp()
        self.file = self.path / "Scan_1.msot"

    def make(self, counts, places, wavelengths, *, text=None, **stated):
        """`counts` [pulse, detector, sample] of 16 bits."""
        xml = description(places, counts.shape[2], wavelengths, counts.shape[0], **stated)
        self.file.write_text(text(xml) if text else xml, encoding="utf-8")
        self.file.with_suffix(".bin").write_bytes(counts.astype("<u2").tobytes())

    def test_a_ball_is_imaged_where_it_is(self):
        places = arc()
        pressure = ball(places, (3e-3, -2e-3, 0.0))
        plain = 32768 + numpy.round(1e6 * pressure)
        # As a scanner has it: another middle in every channel, and the laser's spike, which goes to both ends of the range.
        real = plain - 32768 + 37578 + numpy.random.default_rng(3).integers(-300, 300, (len(places), 1))
        real[:, 5:150] = numpy.random.default_rng(4).choice([0, 65535], (len(places), 145))
        for name, counts, filtering in (("plain", plain, 'kind = "none"'), ("real", real, 'kind = "band"\nband = [0.05e6, 6.5e6]')):
            with self.subTest(name):
                self.make(counts[None], places, [800])
                config = self.path / "config.toml"
                config.write_text('[imaging]\nmethod = "tomography"\nbackend = "cpu"\n[material]\nlongitudinal_velocity = 1500\n'
                                  f'[filter]\n{filtering}\n[tomography]\nshown = "non_negative"\n'
                                  '[grid]\nx = [-0.008, 0.008]\nz = [-0.008, 0.008]\npixels = [81, 81]\n')
                self.run_program(0, "image", self.file, "--config", config, "--output", self.path / "image.npy")
                image = numpy.load(self.path / "image.npy")
                self.assertEqual(image.shape, (81, 81))
                # The scanner's x stays, its y is -z; pixels are 0.2 mm, the ball's radius 1.5 mm.
                z, x = numpy.meshgrid(numpy.linspace(-8e-3, 8e-3, 81), numpy.linspace(-8e-3, 8e-3, 81), indexing="ij")
                bright = numpy.where(image > 0.5 * image.max(), image, 0.0)
                self.assertAlmostEqual((bright * x).sum() / bright.sum(), 3e-3, delta=2e-4)
                self.assertAlmostEqual((bright * z).sum() / bright.sum(), 2e-3, delta=2e-4)

    def scan(self, **stated):
        """Seven pulses of three wavelengths: two sweeps and a third that was cut."""
        places = arc(5)
        counts = numpy.random.default_rng(1).integers(0, 65536, (7, 5, 50))
        counts[0, 0, :2] = 0, 65535
        self.make(counts, places, [700, 730.5, 900], energies=(20, 10, 0.5, 22), **stated)
        return places, counts

    def test_every_field(self):
        places, counts = self.scan()
        found = self.inspect(self.file)
        self.assertEqual((found["elements"], found["a_scans"], found["samples"], found["frames"]), (5, 15, 50, 2))
        self.assertEqual((found["sample_rate"], found["start_time"]), (RATE, 0.0))
        # Of pulses 1 and 4, 2 and 5, 3 and 6: the mean in joules.
        for event, wavelength, energy in zip(found["events"], (700e-9, 730.5e-9, 900e-9), (21e-3, 15e-3, 5.25e-3), strict=True):
            self.assertAlmostEqual(event["passive"]["wavelength"], wavelength, delta=1e-15)
            self.assertAlmostEqual(event["passive"]["pulse_energy"], energy, delta=1e-9)
        self.assertIn("a sweep that ends after 1 of 3 wavelengths is left out", found["description"])
        self.run_program(0, "convert", self.file, self.path / "out.hdf5")
        self.check_ipasc(self.path / "out.hdf5", places, counts)
        with h5py.File(self.path / "out.hdf5", "r") as file:
            numpy.testing.assert_allclose(numpy.ravel(file["meta_data/measurement_timestamps"][...]), [1000.0, 1003.0], atol=1e-6)

    def check_ipasc(self, path, places, counts):
        with h5py.File(path, "r") as file:
            data = file["binary_time_series_data"][...]
            self.assertEqual(data.dtype.kind, "i")
            numpy.testing.assert_array_equal(data, (counts[:6] - 32768).reshape(2, 3, 5, 50).transpose(2, 3, 1, 0))
            all_of = file["meta_data_device/detectors"].values()
            at = numpy.array([one["detector_position"][...] for one in all_of])
            numpy.testing.assert_allclose(at, places[:, [0, 2, 1]] * [1, 1, -1], rtol=1e-6, atol=1e-15)
            inward = numpy.array([one["detector_orientation"][...] for one in all_of])
            numpy.testing.assert_allclose(inward, -at / numpy.linalg.norm(at, axis=1)[:, None], atol=1e-6)

    def test_replay_and_captures_have_every_count(self):
        places, counts = self.scan()
        recorder = subprocess.Popen([PROGRAM, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--output",
                                     str(self.path / "replayed.hdf5"), "--frames", "2"], stdout=subprocess.PIPE, text=True)
        for cleanup in (recorder.stdout.close, recorder.wait, recorder.kill):
            self.addCleanup(cleanup)
        port = re.search(r":(\d+)$", recorder.stdout.readline().strip())[1]
        self.run_program(0, "replay", self.file, "--connect", f"127.0.0.1:{port}", "--rate", "max", "--encoding", "stored")
        self.assertEqual(recorder.wait(timeout=60), 0)
        self.check_ipasc(self.path / "replayed.hdf5", places, counts)
        self.run_program(0, "convert", self.file, self.path / "out.efcap")
        self.run_program(0, "convert", self.path / "out.efcap", self.path / "again.hdf5")
        self.check_ipasc(self.path / "again.hdf5", places, counts)

    def test_energies_are_carried_where_samples_want_them(self):
        for more in ("<LEnergy-normalization>PerPulse</LEnergy-normalization>", '<HEADER LEnergy-normalization="PerPulse"/>'):
            with self.subTest(more):
                self.scan(more=more)
                found = self.inspect(self.file)
                self.assertTrue(all("pulse_energy" not in event["passive"] for event in found["events"]))
                self.assertIn("samples are divided by the energies of the pulses, which are not carried", found["description"])
        with self.subTest("not all stated"):
            self.scan(text=lambda xml: xml.replace("<LASER-ENERGY>10</LASER-ENERGY>", "<LASER-ENERGY/>"))
            self.assertTrue(all("pulse_energy" not in event["passive"] for event in self.inspect(self.file)["events"]))

    def test_detectors_of_no_arc_face_the_middle_of_all(self):
        places = numpy.array([(-0.01, 0.0, 0.001), (0.0, 0.02, 0.001), (0.01, 0.0, 0.001), (0.0, -0.03, 0.001)])
        self.make(numpy.full((1, 4, 20), 40000), places, [800])
        self.assertIn("detectors face the middle of all", self.inspect(self.file)["description"])
        self.run_program(0, "convert", self.file, self.path / "out.hdf5")
        with h5py.File(self.path / "out.hdf5", "r") as file:
            all_of = file["meta_data_device/detectors"].values()
            at = numpy.array([one["detector_position"][...] for one in all_of])
            faces = numpy.array([one["detector_orientation"][...] for one in all_of])
        inward = at.mean(axis=0) - at
        numpy.testing.assert_allclose(faces, inward / numpy.linalg.norm(inward, axis=1)[:, None], atol=1e-6)

    def test_what_is_wrong_is_one_line(self):
        entities = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<DataModelMsotProject>&b;'
        first = re.compile("<VALUE axis-ref=.1.>[^<]*</VALUE>")
        cases = (
            ("<RECORDED-LENGTH>50", "<RECORDED-LENGTH>51", "Scan_1.bin: found 3500 bytes; expected 3570: 7 pulses of 5 detectors and 51 samples"),
            ("<RECORDED-LENGTH>50", "<RECORDED-LENGTH>nan", 'found RECORDED-LENGTH "nan"; expected a number from 2 to 4.1943e+06'),
            ("<RECORDED-LENGTH>50", "<RECORDED-LENGTH>1e18", 'found RECORDED-LENGTH "1e18"; expected a number from 2 to'),
            ("<RECORDED-LENGTH>50", "<RECORDED-LENGTH>50.5", "found 50.5 samples; expected a whole number"),
            ("<RECORDED-LENGTH>50</RECORDED-LENGTH>", "", "Scan_1.msot: found no RECORDED-LENGTH"),
            (">40</SAMPLING", ">0</SAMPLING", 'found SAMPLING-FREQUENCY "0"; expected a number from 0.001 to 10000'),
            (">40</SAMPLING", ">inf</SAMPLING", 'found SAMPLING-FREQUENCY "inf"'),
            ("SAMPLING-FREQUENCY", "SAMPLING", "Scan_1.msot: found no SAMPLING-FREQUENCY"),
            ("WAVELENGTHS", "COLOURS", "Scan_1.msot: found no WAVELENGTHS"),
            (">700</WAVELENGTH>", ">0.7</WAVELENGTH>", 'found WAVELENGTH "0.7"; expected a number from 100 to 100000'),
            ("<Frame timestamp", "<Frame time-stamp", None),
            ("<WAVELENGTH>730.5</WAVELENGTH><P", "<WAVELENGTH>900</WAVELENGTH><P",
             "found light of 900 nm in DataModelScanFrame 2; expected 730.5, in the order of WAVELENGTHS"),
            ("<LASER-ENERGY>10<", "<LASER-ENERGY>NaN<", 'found LASER-ENERGY "NaN"; expected a number from 0 to 100000'),
            ("<LASER-ENERGY>10<", "<LASER-ENERGY>-1<", 'found LASER-ENERGY "-1"'),
            ('timestamp="', 'timestamp="now ', 'found timestamp "now 6'),
            ('axis-ref="2"', 'axis-ref="4"', 'found axis-ref "4"; expected 1, 2 or 3'),
            ('axis-ref="2"', 'axis-ref="1"', "found a second VALUE of axis 1; expected one of each axis"),
            (' axis-ref="2"', "", "found a VALUE without axis-ref; expected 1, 2 or 3"),
            (first, "", "found a PROJECTION without all of its values; expected 3: its place in metres"),
            (first, '<VALUE axis-ref="1">40.5</VALUE>', 'found VALUE "40.5"; expected a number from -1 to 1'),
            (first, '<VALUE axis-ref="1">nan</VALUE>', 'found VALUE "nan"; expected a number from -1 to 1'),
            (re.compile("(axis-ref=.[123].>)[^<]*<"), r"\g<1>0<", "Scan_1.msot: found a detector in the middle of all; expected detectors around what they hear"),
            ("FRAME-DESC", "DESC", "found 0 PROJECTION in FRAME-DESC; expected one a detector, at least 2"),
            ("DataModelScanFrame", "DataModelFrame", "found 0 DataModelScanFrame; expected one a pulse, 3 at least"),
            ("<DataModelMsotProject>", entities, "Scan_1.msot, line 2: found a document type with declarations; expected elements alone"),
            ("<DataModelMsotProject>", '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">\n<DataModelMsotProject>', None),  # passed over
            ("<DataModelMsotProject>", '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">\n<DataModelMsotProject>&other;',
             'line 3: found the entity "other", which the file does not define'),
            ("&amp;", "&other;", "line 2: found undefined entity; expected whole XML"),
            ("</ScanFrames>", "</Frames>", "line 3: found mismatched tag; expected whole XML"),
            ("</ScanNode>\n", "<a>" * 100 + "</a>" * 100 + "</ScanNode>\n", "found more than 64 elements inside each other; expected fewer"),
            ("<RECORDED", "<A b='" + "x" * (3 << 20) + "'/><RECORDED", "found a tag that does not end; expected at most 1048576 bytes of it"),
        )
        for old, new, line in cases:
            with self.subTest(line):
                change = (lambda xml: old.sub(new, xml)) if isinstance(old, re.Pattern) else (lambda xml: xml.replace(old, new))
                self.scan(text=change)
                if line is None:  # nothing is wrong, or the time alone is not known
                    self.inspect(self.file)
                else:
                    self.refused(line)
        with self.subTest("truncated"):
            self.scan(text=lambda xml: xml[:len(xml) // 2])
            self.refused("found an end before that of its elements (truncated)")
        with self.subTest("no XML"):
            self.scan(text=lambda xml: "\x00\x01 scan")
            self.refused("; expected whole XML")
        for change, line in ((lambda data: data[:-2], "Scan_1.bin: found 3498 bytes; expected 3500: 7 pulses of 5 detectors and 50 samples of 2 bytes"),
                             (lambda data: data + b"\0\0", "Scan_1.bin: found 3502 bytes; expected 3500"),
                             (lambda data: b"", "Scan_1.bin: found an empty file")):
            with self.subTest(line):
                self.scan()
                samples = self.file.with_suffix(".bin")
                samples.write_bytes(change(samples.read_bytes()))
                self.refused(line)
        with self.subTest("no samples"):
            self.file.with_suffix(".bin").unlink()
            self.refused("Scan_1.bin: found no such file")

    def refused(self, line):
        text = self.run_program(2, "inspect", self.file)
        self.assertIn(line, text)
        self.assertEqual(text.strip().count("\n"), 0, text)


unittest.main(argv=sys.argv[:1], verbosity=2)
