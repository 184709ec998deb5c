"""tools/mutate, on a small project: what is changed and what never is, what becomes of a mutant, and that the tree stays as it is."""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

TOOLS = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(TOOLS))
sys.dont_write_bytecode = True
from one_line_mutants import mutants_of, order_of  # noqa: E402

KEPT = """
// if (a < b) return true; 0 1
/* a + b
   a - 1 */
#include <vector2>
#define TWICE(x) (2 * \\
  x + 1)
template <int count, typename T = std::array<int, 4>>
struct Table {
  Table(int rows);
  void clear();
  virtual int rows() const = 0;
  bool operator<(const Table& other) const;
};
static_assert(sizeof(Table) >
              8);
[[deprecated("since 2")]] std::array<float, 3> f(const Table& table, T&& other) {
  const char* said = "a < b && c - 1" R"x(0 == 1)x";
  const char sign = '1', quote = '\\'', plus = '+';
  spdlog::warn("{} of {}", rows + 1,
               4);
  values.reserve(8);
  throw InputError("x", fmt::format("{}", 2 * rows), "more than 1");
  return std::move(said + '-');
}
"""

PROJECT = {
    "CMakePresets.json": '{"version": 6, "configurePresets": [{"name": "cpu", "generator": "Ninja", "binaryDir": "${sourceDir}/build/cpu"}]}',
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.25)
        project(Small LANGUAGES CXX)
        set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
        set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
        enable_testing()
        add_library(sums STATIC sums/sums.cpp sums/spare.cpp)
        target_include_directories(sums PUBLIC ${CMAKE_SOURCE_DIR})
        function(unit_test name folder)
          add_executable(test_${name} tests/${folder}/${name}_test.cpp)
          target_link_libraries(test_${name} sums)
          add_test(NAME test_${name}.part_0 COMMAND test_${name})
          set_tests_properties(test_${name}.part_0 PROPERTIES LABELS "unit;parts")
        endfunction()
        unit_test(sums sums)
        unit_test(others others)
        """,
    "sums/sums.hpp": "#pragma once\nint larger(int a, int b);\nint clipped(int a);\nlong long counted(long long a);\nint half(int a);\n",
    "sums/sums.cpp": """
        #include "sums/sums.hpp"

        int larger(int a, int b) {
          if (a > b) return a;
          return b;
        }

        int clipped(int a) {
          return a < 100 ? a : 100;
        }

        long long counted(long long a) {
          long long n = 0;
          while (n != a) ++n;
          return n;
        }

        int half(int a) {
          return a / 2;
        }
        """,
    "sums/spare.cpp": "int spare(int a) {\n  return a + 1;\n}\n",
    "tests/sums/sums_test.cpp": '#include "sums/sums.hpp"\n#include <cstdio>\nint main() {\n  if (larger(3, 4) != 4 || larger(4, 3) != 4) {\n'
                                '    std::puts("[  FAILED  ] Sums.Larger (0 ms)");\n    return 1;\n  }\n  return counted(3) == 3 ? 0 : 1;\n}\n',
    "base/a.hpp": "", "base/b.hpp": "", "base/c.hpp": "",
    "tests/others/others_test.cpp": '#include "base/a.hpp"\n#include "base/b.hpp"\n#include "base/c.hpp"\n#include "sums/sums.hpp"\nint main() {\n  return half(8) == 4 ? 0 : 1;\n}\n',
}


def project(folder):
    for name, text in PROJECT.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip())


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Choice(unittest.TestCase):
    def changes(self, line, before="void f() {\n", after="\n}\n"):
        """What becomes of a line in a function."""
        text = before + line + after
        number = before.count("\n")
        return [mutant.changed(text).splitlines()[number] for mutant in mutants_of("a.cpp", text) if mutant.line == number + 1]

    def test_text_is_never_changed(self):
        self.assertEqual([mutant.changed(KEPT).splitlines()[mutant.line - 1] for mutant in mutants_of("a.cpp", KEPT)], [])

    def test_each_operator(self):
        self.assertEqual(self.changes("x = a < b;"), ["x = a <= b;"])
        self.assertEqual(self.changes("x = a == b;"), ["x = a != b;"])
        self.assertEqual(self.changes("x = a * b;"), ["x = a / b;"])
        self.assertEqual(self.changes("x += 7;"), ["x -= 7;", "x += 8;"])
        self.assertEqual(self.changes("x = 0.5;"), ["x = 1.5;"])
        self.assertEqual(self.changes("x = 1e-6F;"), ["x = 2e-06F;"])
        self.assertEqual(self.changes("x = 1'000U;"), ["x = 1001U;"])
        self.assertEqual(self.changes("x = a && !b;"), ["x = a || !b;", "x = a && b;"])
        self.assertEqual(self.changes("if (ready(a)) {}"), ["if (!(ready(a))) {}"])
        self.assertEqual(self.changes("return true;"), ["return false;"])
        self.assertEqual(self.changes("x = std::min(a, b);"), ["x = std::max(a, b);"])
        self.assertEqual(self.changes("  house.rows().clear();"), ["  {}"])
        self.assertEqual(self.changes("  if (x) clear(a, f(b));"), ["  if (!(x)) clear(a, f(b));", "  if (x) {}"])

    def test_what_looks_like_something_else(self):
        for line in ("const std::vector<std::pair<int, T>> x(a);", "if (const auto x = f()) {}", 'x = name + " of " + y;', "auto&& x = *y;",
                     "Table table(a);", "x = std::move(y);"):
            self.assertEqual(self.changes(line), [], line)
        self.assertEqual(self.changes("  Table(int rows);", "class Table {\n", "\n};\n"), [])

    def test_the_same_seed_chooses_the_same(self):
        text = textwrap.dedent(PROJECT["sums/sums.cpp"])
        mutants = mutants_of("a.cpp", text)
        self.assertEqual(order_of(mutants, 3), order_of(mutants_of("a.cpp", text), 3))
        self.assertNotEqual(order_of(mutants, 3), order_of(mutants, 4))
        self.assertEqual(sorted(map(str, order_of(mutants, 3))), sorted(map(str, mutants)))


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.TemporaryDirectory(prefix="mutate-")
        cls.addClassCleanup(cls.root.cleanup)
        cls.tree, cls.build = pathlib.Path(cls.root.name) / "tree", pathlib.Path(cls.root.name) / "mutants"
        project(cls.tree)

    def command(self, *words):
        return [sys.executable, str(TOOLS / "mutate"), "--source", str(self.tree), "--build", str(self.build), "--jobs", "1", *words]

    def mutate(self, *words, code=0):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def outcomes(self, *words):
        figures = self.build.parent / "figures.json"
        done = self.mutate("--count", "100", "--json", str(figures), *words)
        return {row["change"]: (row["outcome"], row["by"]) for row in json.loads(figures.read_text())["mutants"]}, done.stdout

    def test_what_becomes_of_mutants(self):
        before = contents(self.tree)
        found, text = self.outcomes("sums")
        self.assertEqual(contents(self.tree), before)
        killed = [("if (a > b) return a; -> if (!(a > b)) return a;", "test_sums Sums.Larger"), ("return a / 2; -> return a * 2;", "test_others")]
        for change, by in killed:
            self.assertEqual(found[change], ("killed", by))
        self.assertEqual(found["return a < 100 ? a : 100; -> return a < 100 ? a : 101;"], ("survived", ""))
        self.assertEqual(found["while (n != a) ++n; -> while (n != a) --n;"][0], "timed out")
        self.assertEqual(found["return a + 1; -> return a - 1;"], ("survived", ""), "no test program has it linked in")
        self.assertIn("sums/sums.cpp:9: return a < 100 ? a : 100; -> return a < 100 ? a : 101;: survived", text)
        counts = [sum(outcome == wanted for outcome, _ in found.values()) for wanted in ("killed", "timed out", "survived")]
        self.assertRegex(text, rf"\nsums +{counts[0]} +{counts[1]} +{counts[2]} .* {100 * sum(counts[:2]) / sum(counts):.0f} %\n")

    def test_own_tests_alone(self):
        found, _ = self.outcomes("--own", "sums/sums.cpp")
        self.assertEqual(found["return a / 2; -> return a * 2;"], ("survived", ""))

    def test_the_choice_is_bounded_and_of_the_seed(self):
        lines = [self.mutate("--own", "--count", "2", "--seed", "5", "sums").stdout.split("\n\n")[0] for _ in range(2)]
        self.assertEqual(len(lines[0].splitlines()), 2)
        self.assertEqual(*lines)

    def test_an_interruption_leaves_the_tree_as_it_was(self):
        before = contents(self.tree)
        running = subprocess.Popen(self.command("--count", "100", "sums"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn(" -> ", running.stdout.readline())
        running.send_signal(signal.SIGINT)
        text, errors = running.communicate(timeout=300)
        self.assertEqual(running.returncode, 130, text + errors)
        self.assertIn("interrupted", text)
        self.assertEqual(contents(self.tree), before)
        copy = {name: (self.build / "source" / name).read_bytes() for name in before}
        self.assertEqual(copy, before)

    def test_a_crash_before_is_made_good(self):
        self.mutate("--own", "--count", "1", "sums")
        (self.build / "source/sums/sums.cpp").write_text("int larger(int, int) { return 7; }\n")
        self.mutate("--own", "--count", "1", "sums")

    def test_unmutated_tests_have_to_pass(self):
        test = self.tree / "tests/others/others_test.cpp"
        text = test.read_text()
        self.addCleanup(test.write_text, text)
        test.write_text(text.replace("== 4", "== 5"))
        done = self.mutate("--count", "100", "sums", code=1)
        self.assertRegex(done.stderr, r"\nmutate: test_others fails unmutated: exit status 1; see \S+\n$")
        self.assertEqual(done.stdout, "")

    def test_words_that_it_does_not_know(self):
        for words, said in ((["nowhere"], 'found "nowhere"; expected a folder or a source of the tree, no tests'), (["tests/sums"], "no tests"),
                            (["--count", "0", "sums"], 'found "0"; expected a whole number from 1'), ([], "required: MODULE"),
                            (["--minutes", "0", "sums"], "--minutes: found 0; expected more than 0"),
                            (["--json", "none/table.json", "sums"], "--json: found no folder none; expected one that is there")):
            done = self.mutate(*words, code=2)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
