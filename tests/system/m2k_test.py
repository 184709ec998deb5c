"""Folders NAME.m2k, made of text and bytes alone by what is known of the format: where a hole is imaged, field by field, and one line for
what is wrong."""
import os
import re
import struct
import sys
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import ProgramCase

RATE = 50e6
PITCH = 0.6e-3
C = 5900.0


def numbers(values):
    return "".join(f"{value};" for value in values)


def make(folder, salvos, *, elements=4, version="10.1.0", positions=1, sums=False, encoders=False, array=None, edit=lambda name, text: text,
         document_type=lambda root: ""):
    """`salvos`: each a list of (emitters, receivers, data [position, receiver, sample], delays in us or none)."""
    (folder / "acq_files").mkdir(parents=True, exist_ok=True)
    leading, trailing = {"8.0.2": (2, 8), "8.2.0": (3, 8)}.get(version, (2, 0))
    bursts, shots, index = [], [], 0
    for number, firings in enumerate(salvos):
        sequences = []
        for emitters, receivers, data, *delays in firings:
            late = f' retardEmission="{numbers(delays[0])}"' if delays else ""
            sequences.append(f'<Sequence><Tir index="{index}"><Emission voieEmission="{numbers(emitters)}"{late}/>'
                             f'<Reception voieReception="{numbers(receivers)}" angleDeg="0"/></Tir></Sequence>')
            shots.append(data)
            index += 1
        bursts.append(f'<Rafale index="{number}" ancrageProbeX="0" ancrageProbeY="0">'
                      '<ParametresGeneraux gainBalayage="20" retardNumerisation="0.5" angleStartDefinitionMS="1e6" angleEndDefinitionMS="1e6">'
                      f'<Dac freq="{RATE:.0f}"/><UsSpeed speedL="{C}" speedT="3240"/>'
                      f'<DefPortes><Porte saveAscan="{str(sums).lower()}" debut="1.5;0;" largeur="9.0;0;" largeurCour="{firings[0][2].shape[2]};0;"/>'
                      f'<Porte debut="90;" largeur="1;" largeurCour="9;"/></DefPortes></ParametresGeneraux>{"".join(sequences)}</Rafale>')
    configuration = (f'<?xml version="1.0" encoding="UTF-8"?>{document_type("M2k")}<M2k versionStr="{version}"><ConfigurationDeControle>'
                     f'<Probe salvoName="Salvo;" nbElement="{elements}" largeurElement="0.5" interElement="0.1"/><ParametresMecanique/>'
                     f'<ReglagesUs><Controle><ControleZone>{"".join(bursts)}</ControleZone></Controle></ReglagesUs></ConfigurationDeControle></M2k>')
    description, described, stored = [], b"", bytearray(b"\xee" * 64)
    for shot in shots:
        channels = "".join(f'<DataDescSave classType="1" type="6" indice="{k + 1}"/>' for k in range(shot.shape[1]))
        more = '<DataDescSave classType="1" type="5"/><DataDescSave classType="1" type="21"/>' if sums else ""
        more += '<DataDescSave classType="4" type="3"/>' if encoders else ""
        description.append(f'<ShotDescSave><DataSave><DataDescSave classType="2" type="16"/>{channels}{more}</DataSave></ShotDescSave>')
    for position in range(positions):
        for number, shot in enumerate(shots):
            place = len(stored)
            data = shot[position].astype("<i2")
            stored += b"\x5a\x5a" * leading
            if sums:
                stored += data.sum(axis=0).astype("<i2").tobytes()
            stored += data.tobytes()
            if sums:
                stored += b"\x11" * 6
            if encoders:
                stored += struct.pack("<2f", position, 0.0)
            stored += b"\xa5\xa5" * trailing
            described += struct.pack("<IQQffI", 77 + number, place, position, float(position), 0.0, 4)
            described += struct.pack("<I", 2 * data.shape[1]) * data.shape[0]
            if sums:
                described += struct.pack("<II", 2 * data.shape[1], 6)
            if encoders:
                described += struct.pack("<I", 8)
    files = {"M2kConfig.xml": configuration, "acq_files/acq_desc.xml": f'{document_type("Desc")}<Desc nbCartoByShot="2">{"".join(description)}</Desc>',
             "acq_files/acq_desc.bin": described, "acq_files/acq_data.bin": bytes(stored)}
    if array:
        files["M2kConfig_files/M2kConfig.xml"] = array
        (folder / "M2kConfig_files").mkdir(exist_ok=True)
    for name, content in files.items():
        content = edit(name, content)
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def full(data):
    """Of data [position, transmit, receive, sample]."""
    return [([t], range(data.shape[2]), data[:, t]) for t in range(data.shape[1])]


def noise(*shape):
    return numpy.random.default_rng(9).integers(-2000, 2000, shape, dtype=numpy.int16)


def panther(decoupage="lineaire", water=0.0):
    return (f'<Panther><ModeleControle><Positionnement typeCnt="immersion"><PosImmersion Heau="{water}"/></Positionnement></ModeleControle>'
            f'<ReseauTraducteur><Traducteur><DecoupagePastille decoupage="{decoupage}"><DecoupageMulti>'
            '<DecoupageLineaire nbElements="4" widthIncid="0.7" spaceInterIncid="0.3"/></DecoupageMulti></DecoupagePastille></Traducteur></ReseauTraducteur></Panther>')


class M2k(ProgramCase):
    def converted(self, *arguments):
        """Samples and elements' places, as an MFMC file has them."""
        out = self.path / "out.mfmc"
        out.unlink(missing_ok=True)
        self.run_program(0, "convert", self.path / "in.m2k", out, *arguments)
        with h5py.File(out, "r") as made:
            return made["SEQUENCES/S1/MFMC_DATA"][...], made["PROBES/P1/ELEMENT_POSITION"][...]

    def test_a_hole_is_imaged_where_it_is(self):
        elements, samples = 16, 400
        x = PITCH * (numpy.arange(elements) - 7.5)
        hole = numpy.array([1.2e-3, 12e-3])
        way = numpy.hypot(x - hole[0], hole[1])
        t = 2e-6 + numpy.arange(samples) / RATE - ((way[:, None] + way[None, :]) / C)[..., None]
        data = 20000 * numpy.exp(-(t / 1.5e-7) ** 2) * numpy.cos(2 * numpy.pi * 5e6 * t)
        make(self.path / "in.m2k", [full(data[None])], elements=elements)
        config = self.path / "config.toml"
        config.write_text('[imaging]\nbackend = "cpu"\n[grid]\nx = [-0.004, 0.005]\nz = [0.008, 0.016]\npixels = [91, 81]\n')
        # A folder is named with a slash as well.
        self.run_program(0, "image", f"{self.path / 'in.m2k'}/", "--config", config, "--output", self.path / "image.npy")
        image = numpy.load(self.path / "image.npy")
        z, x = numpy.unravel_index(image.argmax(), image.shape)
        self.assertAlmostEqual(-4e-3 + 1e-4 * x, hole[0], delta=1.5e-4)
        self.assertAlmostEqual(8e-3 + 1e-4 * z, hole[1], delta=1.5e-4)

    def test_every_field(self):
        data = noise(3, 4, 4, 40)
        for version in ("8.0.2", "8.2.0", "10.1.0"):
            for sums, encoders in ((False, False), (True, False), (True, True)):
                with self.subTest((version, sums, encoders)):
                    make(self.path / "in.m2k", [full(data)], version=version, positions=3, sums=sums, encoders=encoders)
                    read, places = self.converted()
                    numpy.testing.assert_array_equal(read.reshape(data.shape), data)
        numpy.testing.assert_allclose(places, [((k - 1.5) * PITCH, 0, 0) for k in range(4)], atol=1e-15)
        found = self.inspect(self.path / "in.m2k")
        self.assertEqual((found["elements"], found["a_scans"], found["samples"], found["frames"]), (4, 16, 40, 3))
        self.assertEqual((found["matrix"], found["sample_rate"]), ("full", RATE))
        self.assertAlmostEqual(found["start_time"], 2e-6, delta=1e-12)
        self.assertEqual((found["longitudinal_velocity"], found["shear_velocity"]), (C, 3240.0))

    def test_orders_halves_and_salvos(self):
        data = noise(1, 4, 4, 30)
        order = numpy.random.default_rng(1)
        shuffled = [([t], r, data[:, t][:, r]) for t in order.permutation(4) for r in [order.permutation(4)]]
        half = [([t], range(t, 4), data[:, t, t:]) for t in range(4)]
        make(self.path / "in.m2k", [shuffled, half])
        numpy.testing.assert_array_equal(self.converted()[0].reshape(data.shape), data)
        self.assertIn("2 salvos", self.inspect(self.path / "in.m2k")["description"])
        upper = [data[0, t, r] for t in range(4) for r in range(t, 4)]
        numpy.testing.assert_array_equal(self.converted("--sequence", "1")[0][0], upper)

    def test_a_panther_describes_its_probe(self):
        data = noise(1, 4, 4, 30)
        make(self.path / "in.m2k", [full(data)], array=panther(water=20.0))
        numpy.testing.assert_allclose(self.converted()[1], [((k - 1.5) * 1e-3, 0, -20e-3) for k in range(4)], atol=1e-15)
        self.assertIn("in immersion, 20 mm above the part", self.inspect(self.path / "in.m2k")["description"])
        make(self.path / "in.m2k", [full(data)], array=panther("circulaire"))
        self.refused('found decoupage "circulaire"; expected "lineaire"')

    def test_plane_waves_are_imaged_by_their_delays(self):
        elements, samples = 16, 400
        x = PITCH * (numpy.arange(elements) - 7.5)
        hole = numpy.array([1.2e-3, 12e-3])
        back = numpy.hypot(x - hole[0], hole[1]) / C
        firings = []
        for angle in numpy.radians([-12, 0, 12]):
            delays = x * numpy.sin(angle) / C
            delays -= delays.min() - 0.3e-6  # no element fires at 0
            # A plane wave of the whole line passes (0, 0) as late as the line of delays says there, and the hole n . p / c later.
            there = numpy.interp(0, x, delays) + (hole[0] * numpy.sin(angle) + hole[1] * numpy.cos(angle)) / C
            t = 2e-6 + numpy.arange(samples) / RATE - (there + back)[:, None]
            data = 20000 * numpy.exp(-(t / 1.5e-7) ** 2) * numpy.cos(2 * numpy.pi * 5e6 * t)
            firings.append((range(elements), range(elements), data[None], 1e6 * delays))
        make(self.path / "in.m2k", [firings], elements=elements)
        config = self.path / "config.toml"
        config.write_text('[imaging]\nbackend = "cpu"\n[grid]\nx = [-0.001, 0.004]\nz = [0.010, 0.014]\npixels = [101, 81]\n')
        self.run_program(0, "image", self.path / "in.m2k", "--config", config, "--output", self.path / "image.npy")
        image = numpy.load(self.path / "image.npy")
        z, x = numpy.unravel_index(image.argmax(), image.shape)
        self.assertAlmostEqual(-1e-3 + 5e-5 * x, hole[0], delta=1.5e-4)  # an eighth of a wavelength
        self.assertAlmostEqual(10e-3 + 5e-5 * z, hole[1], delta=1.5e-4)

    def test_delays_of_emitters_are_in_microseconds(self):
        data = noise(1, 3, 4, 30)
        make(self.path / "in.m2k", [[([0, 1, 2, 3], range(4), data[:, 0], [0, 0.1, 0.2, 0.3]), ([3, 1], range(4), data[:, 1], [0.25, 0]),
                                     ([0, 1, 2, 3], range(4), data[:, 2], [0, 0.1, 0.2, 0.3])]])
        laws = [event["law"] for event in self.inspect(self.path / "in.m2k")["events"]]
        self.assertEqual([law["elements"] for law in laws], [[0, 1, 2, 3], [3, 1], [0, 1, 2, 3]])
        for law, delays in zip(laws, ([0, 1e-7, 2e-7, 3e-7], [2.5e-7, 0], [0, 1e-7, 2e-7, 3e-7])):
            numpy.testing.assert_allclose(law["delays"], delays, rtol=1e-6)  # 32-bit numbers
        numpy.testing.assert_array_equal(self.converted()[0].reshape(data.shape), data)

    def test_elements_that_fire_late_are_taken_so(self):
        data = noise(1, 4, 4, 30)
        make(self.path / "in.m2k", [[(*firing, [0.4]) for firing in full(data)]])
        found = self.inspect(self.path / "in.m2k")
        self.assertEqual((found["matrix"], found["elements"]), ("full", 4))
        self.assertAlmostEqual(found["start_time"], 2e-6 - 0.4e-6, delta=1e-12)
        make(self.path / "in.m2k", [[(*firing, [0.1 * t]) for t, firing in enumerate(full(data))]])
        found = self.inspect(self.path / "in.m2k")
        self.assertAlmostEqual(found["start_time"], 2e-6, delta=1e-12)
        self.assertEqual(found["events"][0], {"element": 0})
        numpy.testing.assert_allclose([event["law"]["delays"][0] for event in found["events"][1:]], [1e-7, 2e-7, 3e-7], rtol=1e-6)

    def test_a_document_type_is_passed_over(self):
        data = noise(1, 4, 4, 30)
        # Nothing listens there, and a file of this name would define the entity of the last case.
        (self.path / "in.dtd").write_text('<!ENTITY four "4">')
        for kind in ('PUBLIC "-//X//DTD m2k 2.0//FR" "m2k.dtd"', 'SYSTEM "http://127.0.0.1:9/m2k.dtd"', f'SYSTEM "{self.path / "in.dtd"}"'):
            with self.subTest(kind):
                make(self.path / "in.m2k", [full(data)], array=panther(), document_type=lambda root: f"<!DOCTYPE {root} {kind} >\n")
                numpy.testing.assert_array_equal(self.converted()[0].reshape(data.shape), data)
        for subset in ('<!ENTITY four "4">', '<!ENTITY % more SYSTEM "in.dtd"> %more;', ""):
            with self.subTest(subset):
                make(self.path / "in.m2k", [full(data)], document_type=lambda root: f'<!DOCTYPE {root} SYSTEM "in.dtd" [{subset}]>')
                self.refused("M2kConfig.xml, line 1: found a document type with declarations; expected elements alone")
        for place, text in (('nbElement="4"', 'nbElement="&four;"'), ('largeurElement="0.5"', 'largeurElement="&lt;&four;0.5"'), ("<ParametresMecanique/>", "<ParametresMecanique>&four;</ParametresMecanique>")):
            with self.subTest(text):
                make(self.path / "in.m2k", [full(data)], document_type=lambda root: f'<!DOCTYPE {root} SYSTEM "{self.path / "in.dtd"}">',
                     edit=lambda name, content: content.replace(place, text) if name == "M2kConfig.xml" else content)
                self.refused('M2kConfig.xml, line 1: found the entity "four", which the file does not define; expected text that stands in the file itself')

        for name, line in (("gt", None), ("four", 'found the entity "four", which the file does not define')):
            with self.subTest(f"UTF-16, {name}"):
                make(self.path / "in.m2k", [full(data)], document_type=lambda root: f'<!DOCTYPE {root} SYSTEM "in.dtd">',
                     edit=lambda file, content: content if file != "M2kConfig.xml" else
                     content.replace("UTF-8", "UTF-16").replace("Salvo;", f"Salvo&{name};").encode("utf-16"))
                self.refused(line) if line else numpy.testing.assert_array_equal(self.converted()[0].reshape(data.shape), data)

    def test_what_ad_save_describes_lies_elsewhere(self):
        data = noise(2, 4, 4, 30)
        other = '<ADSave><DataDescSave type="8" indice="0" classType="1"/><DataDescSave type="6" indice="7" classType="1"/></ADSave>'
        for place in ("</DataSave>", "<DataSave>"):
            with self.subTest(place):
                def edit(name, content):
                    return content.replace(place, place + other if place == "</DataSave>" else other + place) if name.endswith("acq_desc.xml") else content
                make(self.path / "in.m2k", [full(data)], positions=2, edit=edit)
                numpy.testing.assert_array_equal(self.converted()[0].reshape(data.shape), data)

    def test_what_is_wrong_is_one_line(self):
        data = noise(2, 4, 4, 30)

        def changed(file, old, new):
            def edit(name, text):
                if name != file:
                    return text
                self.assertIn(old, text)
                return text.replace(old, new, 1)
            return edit

        def replaced(file, content):
            return lambda name, text: content if name == file else text
        config, xml, binary, samples = "M2kConfig.xml", "acq_files/acq_desc.xml", "acq_files/acq_desc.bin", "acq_files/acq_data.bin"
        cases = (
            (replaced(config, None), "M2kConfig.xml: found no such file"),
            (replaced(config, "<M2k/>"), "M2kConfig.xml: found no Rafale"),
            (replaced(config, "<M2k><Rafale>"), "M2kConfig.xml, line 1:"),
            (changed(config, '<Probe ', '<Sonde '), "found no Probe with nbElement"),
            (changed(config, 'nbElement="4"', 'nbElement="1e12"'), 'found nbElement "1e12"; expected a number from 0 to 4096'),
            (changed(config, 'nbElement="4"', 'nbElement="3"'), "A-scan 4 receives with element 4; expected elements 1 to 3"),
            (changed(config, 'freq="50000000"', 'freq="nan"'), 'found freq "nan"; expected a number from 1 to 1e+10'),
            (changed(config, 'debut="1.5;0;"', ''), "found Porte without debut; expected what the instrument's program writes"),
            (changed(config, "<Dac ", "<Adc "), "found a Rafale without Dac; expected the rate of samples, in hertz"),
            (changed(config, "<DefPortes>", "</ParametresGeneraux></Rafale><Rafale><ParametresGeneraux><DefPortes>"), "found a Rafale without Porte; expected the gate of its A-scans"),
            (lambda name, text: re.sub("<Sequence>.*</Sequence>", "", text) if name == config else text, "found a Rafale without Tir; expected firings"),
            (changed(xml, 'indice="1"', 'indice="0"'), "found indice 0; expected channels from 1 on"),
            (lambda name, text: b"".join(text[at:at + 36] + struct.pack("<I", 58) + text[at + 40:at + 192] for at in (0, 192)) if name == binary else text,
             "found an A-scan of 58 bytes; expected 60 bytes, as the first has, 2 a sample"),
            (changed(config, 'voieEmission="0;"', 'voieEmission="0;1;"'), "found 0 delays in retardEmission; expected 2, one for each element of voieEmission"),
            (changed(config, 'voieEmission="0;"', 'voieEmission="0;1;" retardEmission="0.1;"'), "found 1 delays in retardEmission; expected 2"),
            (changed(config, 'voieEmission="0;"', 'voieEmission="0;1;" retardEmission="0;x;"'), 'found retardEmission "x"; expected a number'),
            (changed(config, 'voieEmission="0;"', 'voieEmission="0;9;" retardEmission="0;0;"'), "A-scan 1 transmits with element 10; expected elements 1 to 4"),
            (changed(config, 'voieEmission="0;"', 'voieEmission=""'), "Tir 0: found no element that fires"),
            (changed(config, 'voieReception="0;1;2;3;"', 'voieReception="0;1;2;"'), "Tir 0: found 3 receivers; expected 4, as acq_desc.xml has channels"),
            (changed(config, 'voieReception="0;1;2;3;"', 'voieReception="0;1;2;2;"'), "found pair (1, 3) twice"),
            (changed(config, 'voieReception="0;', 'voieReception="x;'), 'found voieReception "x"'),
            (changed(config, 'Tir index="1"', 'Tir index="9"'), "Tir 9: found index 9; expected 0 to 3"),
            (replaced(xml, "<Desc/>"), 'found nbCartoByShot ""; expected a whole number up to 1024'),
            (replaced(xml, '<Desc nbCartoByShot="2"/>'), "acq_desc.xml: found no ShotDescSave"),
            (changed(xml, 'classType="1" type="6"', 'classType="1" type="7"'), "found a DataDescSave of classType 1 and type 7; expected a kind that is known"),
            (changed(xml, '<DataDescSave classType="2" type="16"/>', ""), "found 0 headers in ShotDescSave 0; expected one"),
            (changed(xml, 'indice="4"', 'indice="5000"'), 'found indice "5000"; expected a whole number up to 4096'),
            (changed(xml, 'indice="4"', 'indice="9"'), "acq_desc.xml: found indice 9 in ShotDescSave 0; expected 1 to 4, its channels"),
            (changed(config, 'Tir index="1"', 'Tir index="0"'), "Tir 0: found an index again; expected one of its own for each Tir"),
            (changed(xml, '<DataDescSave classType="1" type="6" indice="1"/>', ""), "acq_desc.xml: found indice 4 in ShotDescSave 0; expected 1 to 3"),
            (replaced(binary, b"\0"), "acq_desc.bin: found an end within a position"),
            (lambda name, text: text[:-3] if name == binary else text, "acq_desc.bin: found an end within a position"),
            (lambda name, text: text[:32] + struct.pack("<I", 62) + text[36:] if name == binary else text, "position 1, shot 0: found other sizes than at the first position"),
            (lambda name, text: text[:4] + struct.pack("<Q", 1 << 63) + text[12:] if name == binary else text, f"acq_data.bin: found"),
            (replaced(samples, b"\0" * 100), "acq_data.bin: found 100 bytes; expected 244 from"),
            (replaced(samples, None), "acq_data.bin: found no such file"),
            (replaced(samples, b""), "acq_data.bin: found an empty file"),
        )
        for edit, line in cases:
            with self.subTest(line):
                make(self.path / "in.m2k", [full(data)], positions=2, edit=edit)
                self.refused(line)
        with self.subTest("images alone"):
            make(self.path / "in.m2k", [full(data)], positions=2, edit=lambda name, text: text if name != xml else text.replace('type="6"', 'type="48"'))
            self.refused("Tir 0: found no A-scans of single receivers, which were not kept")
        with self.subTest("a shot of nothing"):
            # 32 bytes are of the header; both positions have four shots.
            make(self.path / "in.m2k", [full(data)], positions=2, edit=lambda name, text: text if name != binary else b"".join(
                text[at:at + 32] + (bytes(16) if at % 192 == 0 else text[at + 32:at + 48]) for at in range(0, len(text), 48)))
            self.refused("Tir 0: found no A-scans of single receivers, which were not kept")
        with self.subTest("a file"):
            (self.path / "file.m2k").write_text("<M2k/>")
            self.assertIn("file.m2k: found a file; expected a folder", self.run_program(2, "inspect", self.path / "file.m2k"))
        with self.subTest("a folder of another kind"):
            os.mkdir(self.path / "folder.mat")
            self.assertIn("folder.mat: found a directory; expected a recording", self.run_program(2, "inspect", self.path / "folder.mat"))

    def refused(self, line):
        text = self.run_program(2, "inspect", self.path / "in.m2k")
        self.assertIn(line, text)
        self.assertEqual(text.strip().count("\n"), 0, text)


unittest.main(argv=sys.argv[:1], verbosity=2)
