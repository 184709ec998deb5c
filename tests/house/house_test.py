"""The house keeps its rules (rules.py), as docs/architecture.md states them.

  house_test.py SOURCE             the test
  house_test.py SOURCE --shrink    takes what is kept by now off not_yet.txt; nothing is ever added to it

not_yet.txt: "RULE FILE: reason" a line, where a rule is not kept yet. A finding elsewhere fails, and so does a line without a finding.
for_good.txt: "RULE FILE: reason", where a rule finds what it does not mean.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path[:0] = [str(SOURCE / "tools"), str(HERE)]
if not (SOURCE / "CMakeLists.txt").is_file():
    print(f"{SOURCE} holds no sources to read: a bundle does not bring them")
    sys.exit(77)
import rooms  # noqa: E402
import rules  # noqa: E402

NOT_YET, FOR_GOOD = HERE / "not_yet.txt", HERE / "for_good.txt"


def listed(path):
    """{(rule, file): reason}"""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.strip() and not line.startswith("#"):
            place, _, reason = line.partition(": ")
            rule, name = place.split()
            found[rule, name] = reason
    return found


def findings_of(house):
    """{(rule, file): [what was found]}"""
    return {(rule, name): found for rule, find in rules.RULES.items() for name, found in find(house).items()}


class Keeps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.house = rooms.House(SOURCE)
        cls.findings = findings_of(cls.house)
        cls.not_yet, cls.for_good = listed(NOT_YET), listed(FOR_GOOD)

    def test_every_rule(self):
        for rule in rules.RULES:
            with self.subTest(rule):
                new = {name: found for (by, name), found in self.findings.items()
                       if by == rule and (rule, name) not in self.not_yet and (rule, name) not in self.for_good}
                lines = "".join(f"\n  {name}: {'; '.join(found)}" for name, found in new.items())
                self.assertFalse(new, f"not to be: {rules.RULES[rule].__doc__}{lines}")

    def test_what_is_not_kept_yet_grows_less(self):
        for rule, name in self.not_yet:
            print(f"not yet: {rule}: {name}: {'; '.join(self.findings.get((rule, name), ['kept by now']))}")
        kept = [f"{rule} {name}" for rule, name in self.not_yet if (rule, name) not in self.findings]
        self.assertEqual(kept, [], f"kept by now: take them off {NOT_YET.name} (house_test.py SOURCE --shrink)")

    def test_what_is_not_kept_yet_has_a_reason(self):
        self.assertEqual([f"{rule} {name}" for (rule, name), reason in self.not_yet.items() if not reason], [])

    def test_what_is_allowed_for_good_has_a_reason_and_is_there(self):
        self.assertEqual([f"{rule} {name}" for (rule, name), reason in self.for_good.items() if not reason], [])
        self.assertEqual([f"{rule} {name}" for rule, name in self.for_good if (rule, name) not in self.findings], [])

    def test_the_order_has_every_room_that_is_built(self):
        built = [room for room in self.house.built if room != "tests"]
        self.assertGreater(len(built), 10)
        self.assertEqual([room for room in built if room not in self.house.order], [], "missing in docs/architecture.md's table of rooms")

    def test_the_picture_is_that_of_the_sources(self):
        drawn = subprocess.run([sys.executable, str(SOURCE / "tools/draw-rooms"), "--check"], stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)


class Finds(unittest.TestCase):
    """The rules, in a house that keeps none of them."""

    def house(self, **files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        defaults = {
            "CMakeLists.txt": "add_subdirectory(base)\n",
            "docs/architecture.md": "| room | holds | knows |\n| --- | --- | --- |\n" + "".join(
                f"| `{room}/` | | |\n" for room in ("base", "acquisition", "proto", "pipeline", "engines", "stages", "transport", "methods", "apps")),
            "acquisition/pairs.hpp": "enum class Pairs : int {\n  every,  ///< all of them\n  once,\n  once_summed = 7\n};\n"
                                     "enum class SampleEncoding { int16, float32 };\n"
                                     "struct Acquisition { Pairs pairs = Pairs::every; SampleEncoding encoding; };\n"
                                     "std::size_t once_index(std::size_t i, std::size_t j);\n",
            "proto/acquisition.proto": "enum Held {\n  PAIRS_EVERY = 0;  // all\n  PAIRS_ONCE = 1;\n  PAIRS_ONCE_SUMMED = 2;\n}\n",
            "pipeline/recipe.hpp": "enum class OutputKind { complex_image, envelope };\n",
            "stages/half_sums/half_sums.hpp": "extern const StageKind half_sums_stage;\n",
            "stages/envelope/envelope.hpp": "extern const StageKind envelope_stage;\n",
        }
        for name, text in {**defaults, **files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return rooms.House(root)

    def found(self, rule, **files):
        return {name: len(found) for name, found in rules.RULES[rule](self.house(**files)).items()}

    def test_kinds_by_any_name(self):
        self.assertEqual(rules.of_kinds(self.house()), {"Pairs": ["every", "once", "once_summed"],
                                                        "Held": ["PAIRS_EVERY", "PAIRS_ONCE", "PAIRS_ONCE_SUMMED"]})
        for line in ("return a.pairs == Pairs::once;", "return echoform::Pairs::once != a.pairs;", "switch (a.pairs) {}", "case Pairs::once: break;",
                     "Pairs wanted = Pairs::once; if (wanted == b) {}", "const auto i = static_cast<int>(a.pairs);", "using Kind = Pairs;",
                     "using enum Pairs;", "if (x->pairs != y->pairs) {}", "enum class Order { every, once };", "case wire::Held::PAIRS_ONCE: break;"):
            self.assertEqual(self.found("kinds-compared", **{"stages/a.cpp": f"// {line}\n{line}\n"}), {"stages/a.cpp": 1}, line)
            self.assertEqual(self.found("kinds-compared", **{"formats/a.cpp": line, "acquisition/a.cpp": line}), {}, line)
        for line in ("a.pairs = Pairs::once;", "make(Pairs::every, 3);", "if (a.encoding == SampleEncoding::int16) {}", "layout.pairs() == 3;",
                     'say("a.pairs == Pairs::once");', "// a.pairs == Pairs::once", "const bool same = a == b;"):
            self.assertEqual(self.found("kinds-compared", **{"stages/a.cpp": line}), {}, line)

    def test_questions_that_are_comparisons(self):
        header = "struct Layout { bool halved() const { return pairs_ == Pairs::once; }  bool both(int row) const { return row > 1 && pairs_ == Pairs::once; } };\n"
        self.assertEqual(self.found("kinds-by-question", **{"acquisition/layout.hpp": header, "formats/a.cpp": "if (layout.halved()) {}",
                                                            "stages/a.cpp": "if (layout.halved() && layout.both(2)) {}"}), {"stages/a.cpp": 1})

    def test_index_arithmetic(self):
        for line in ("rows = n * (n + 1) / 2;", "const auto k = once_index(i, j);", "n() * (n() + 1U) / 2U"):
            self.assertEqual(self.found("index-arithmetic", **{"stages/a.cpp": line, "formats/a.cpp": line}), {"stages/a.cpp": 1}, line)
        self.assertEqual(self.found("index-arithmetic", **{"stages/a.cpp": "m * (m + 1) / 3; row_index(i);"}), {})

    def test_forms_of_events(self):
        forms = {"acquisition/event.hpp": "using Form = std::variant<ElementEvent, PlaneWave>;\n"}
        for line in ("std::holds_alternative<PlaneWave>(form);", "event.form = ElementEvent{3};"):
            self.assertEqual(self.found("forms-of-events", **forms, **{"transport/a.cpp": line, "methods/a.cpp": line,
                                                                       "transport/acquisition/hello.cpp": line}), {"transport/a.cpp": 1}, line)

    def test_casts(self):
        self.assertEqual(self.found("casts-in-engines", **{"engines/a.cpp": "dynamic_cast<A*>(b);\nstd::dynamic_pointer_cast<A>(b);\n// dynamic_cast",
                                                           "apps/a.cpp": "dynamic_cast<A*>(b);"}), {"engines/a.cpp": 2})

    def test_chains(self):
        line = "recipe.add(half_sums_stage, {}, {0});"
        self.assertEqual(self.found("chains-elsewhere", **{"engines/a.cpp": line, "methods/tfm/a.cpp": line, "stages/half_sums/a.cpp": line,
                                                           "stages/envelope/a.cpp": line, "apps/a.cpp": line}),
                         {"engines/a.cpp": 1, "stages/envelope/a.cpp": 1, "apps/a.cpp": 1})

    def test_names_of_stages_and_methods(self):
        files = {"methods/tfm/tfm.hpp": "", "apps/a.cpp": '#include "methods/tfm/tfm.hpp"\n'}
        for line in ('add("half-sums");', "int half_sums_;", '#include "stages/envelope/envelope.hpp"', "if (method == \"tfm\") {}", "TFM image;"):
            self.assertEqual(self.found("names-of-stages", **{"transport/a.cpp": line, **files}), {"transport/a.cpp": 1}, line)
        for line in ("Buffer envelope;", "// half sums", "halfsumsy = 1;"):
            self.assertEqual(self.found("names-of-stages", **{"transport/a.cpp": line, **files}), {}, line)

    def test_methods_that_somebody_names(self):
        files = {"methods/tfm/tfm.hpp": "TFM image;\n", "methods/registry.cpp": "METHOD(tfm)\n", "apps/bench/a.cpp": '#include "methods/tfm/tfm.hpp"\n'}
        for line in ('#include "methods/tfm/tfm.hpp"', 'if (method == "tfm") {}', "plan_of_tfm(setup);", "TfmPlan plan; tfm(plan);"):
            self.assertEqual(self.found("methods-by-name", **{"apps/a.cpp": line + "\n", **files}), {"apps/a.cpp": 1}, line)
        for line in ('#include "methods/registry.hpp"', "// tfm", "method_of(configuration);"):
            self.assertEqual(self.found("methods-by-name", **{"apps/a.cpp": line + "\n", **files}), {}, line)

    def test_methods_whose_names_are_words(self):
        files = {"methods/beams/plan.hpp": "", "methods/registry.cpp": "METHOD(beams)\n"}
        for line in ('#include "methods/beams/plan.hpp"', 'if (method == "beams") {}', "beams_method();"):
            self.assertEqual(self.found("methods-by-name", **{"apps/a.cpp": line + "\n", **files}), {"apps/a.cpp": 1}, line)
        for line in ("std::size_t beams = 0;", 'throw InputError("12 beams");', "scan_beams(beams);", 'if (transmit == "beams") {}'):
            self.assertEqual(self.found("methods-by-name", **{"apps/a.cpp": line + "\n", **files}), {}, line)

    def test_stages_by_include(self):
        line = '#include "stages/half_sums/half_sums.hpp"\n'
        self.assertEqual(self.found("stages-by-include", **{"apps/a.cpp": line, "methods/tfm/a.cpp": line, "stages/envelope/a.cpp": line,
                                                            "pipeline/a.cpp": '#include "stages/block_checks.hpp"\n'}), {"apps/a.cpp": 1})

    def test_doors(self):
        files = {"transport/web/web_sink.hpp": "class WebSink : public ImageSink {};\n", "transport/udp/udp.cpp": "class Udp final : public AcquisitionSource {};"}
        for line in ("dynamic_cast<WebSink*>(sink);", "std::unique_ptr<Udp> door;"):
            self.assertEqual(self.found("doors-by-name", **files, **{"apps/doors.cpp": line, "apps/a.cpp": line, "transport/web/a.cpp": "WebSink* w;"}),
                             {"apps/a.cpp": 1}, line)
        self.assertEqual(self.found("doors-by-name", **files, **{"apps/a.cpp": "// WebSink\nImageSink* sink;"}), {})

    def test_keys(self):
        self.assertEqual(self.found("keys-by-name", **{"apps/a.cpp": 'find_key("grid", "x");\nlive_key("grid.x");', "methods/tfm/a.cpp": "find_key(section, name);"}),
                         {"apps/a.cpp": 2})

    def test_files_and_hdf5(self):
        for line in ("H5Dread(set, type);", "if (H5Fopen (path, 0) < 0) {}", "hid_t f = H5Fcreate(name);"):
            self.assertEqual(self.found("hdf5-by-itself", **{"apps/a.cpp": line, "formats/hdf5_file.cpp": line}), {"apps/a.cpp": 1}, line)
        for line in ("std::ofstream out(path);", "std::ofstream(path) << 1;", "::open(path, O_WRONLY | O_CREAT);", 'fopen(path, "w");', "Mat_CreateVer(path);"):
            self.assertEqual(self.found("files-by-name", **{"apps/a.cpp": line, "formats/atomic_file.cpp": line}), {"apps/a.cpp": 1}, line)
        for line in ("std::ifstream in(path);", "H5Dwrite(set);", "// O_CREAT", "#include <fstream>"):
            self.assertEqual((self.found("files-by-name", **{"apps/a.cpp": line}), self.found("hdf5-by-itself", **{"apps/a.cpp": line})), ({}, {}), line)

    def test_encodings(self):
        line = "if (a.encoding == SampleEncoding::int16) {}"
        self.assertEqual(self.found("encodings-by-name", **{"apps/a.cpp": line, "formats/a.cpp": line, "stages/raw_rows/a.cpp": line, "acquisition/a.cpp": line}),
                         {"apps/a.cpp": 1})

    def test_includes(self):
        files = {"base/a.hpp": '#include "pipeline/b.hpp"\n', "pipeline/b.hpp": '#include "base/a.hpp"\n#include "proto/c.hpp"\n#include <vector>\n'
                                                                                '#include "acquisition/pairs.hpp"\n#include "pipeline/recipe.hpp"\n'}
        self.assertEqual(self.found("against-the-order", **files), {"base/a.hpp": 1})
        self.assertEqual(self.found("above-the-pipeline", **files), {"pipeline/b.hpp": 1})

    def test_helpers_of_tests(self):
        for line in ("bool eventually(Condition condition) {", "bool Bench::eventually(C c) {", "const auto eventually = [&](auto holds) {",
                     "inline constexpr std::chrono::seconds patience{60};", "constexpr auto patience = 10s;", "std::string input_error(Call&& call) {",
                     "const auto input_error_of = [&](auto call) {"):
            self.assertEqual(self.found("helpers-of-tests-anew", **{"tests/a/a_test.cpp": line, "tests/support/a.hpp": line}), {"tests/a/a_test.cpp": 1}, line)
        for line in ("EXPECT_TRUE(eventually([&] { return done; }));", "// bool eventually(C c)", "const auto line = input_error([&] { call(); });",
                     "changed.wait_for(lock, patience, [&] { return open; });", "const std::string input_errors = all();"):
            self.assertEqual(self.found("helpers-of-tests-anew", **{"tests/a/a_test.cpp": line}), {}, line)

    def test_whole_configurations(self):
        whole = "void check(const Configuration& configuration);"
        files = {"methods/other/gate.cpp": whole, "methods/other/method.cpp": whole, "methods/other/keys.cpp": whole,
                 "methods/third/method.cpp": "int simulated_source(const Configuration& c);", "methods/third/gate.cpp": "int f(const ImagingTask& task);"}
        self.assertEqual(self.found("whole-configurations", **files), {"methods/other/gate.cpp": 1, "methods/other/method.cpp": 1})

    def test_untyped_values(self):
        files = {"methods/other/setup.cpp": "return *std::any_cast<int>(&held);", "config/other.hpp": "std::any_cast<int>(held);"}
        self.assertEqual(self.found("untyped-values", **files), {"methods/other/setup.cpp": 1})

    def test_names_of_tests(self):
        files = {"tests/a/test_a.cpp": "", "tests/a/a_test.cpp": "", "tests/a/test_a.hpp": "", "tests/a/maker.cpp": "", "apps/test_a.cpp": ""}
        self.assertEqual(self.found("names-of-tests", **files), {"tests/a/test_a.cpp": 1})

    def test_a_picture_leaves_out_what_a_longer_way_says(self):
        order = ["base", "pipeline", "stages", "apps"]
        edges = {("pipeline", "base"), ("stages", "base"), ("stages", "pipeline"), ("apps", "stages"), ("apps", "base")}
        self.assertEqual(rooms.reduced(edges, order), {("pipeline", "base"), ("stages", "pipeline"), ("apps", "stages")})

    def test_an_order_that_names_a_room_twice(self):
        with self.assertRaisesRegex(rooms.OrderError, "found base twice"):
            rooms.order_of("| room | holds | knows |\n| --- | --- | --- |\n| `base/`, `base/` | | |\n")


def shrink():
    findings = findings_of(rooms.House(SOURCE))
    kept = {place: reason for place, reason in listed(NOT_YET).items() if place in findings}
    head = [line for line in NOT_YET.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    NOT_YET.write_text("\n".join([*head, *sorted(f"{rule} {name}: {reason}" for (rule, name), reason in kept.items())]) + "\n", encoding="utf-8")
    print(f"{len(kept)} places where a rule is not kept yet")


if __name__ == "__main__":
    if sys.argv[2:] == ["--shrink"]:
        shrink()
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)
