// Where the tests find what they read. The build folder's places are compiled in; the environment comes first, for tests that
// run on another machine.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace echoform::test {

[[nodiscard]] inline std::string environment_or(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

/// The repository's root, or a folder with the same examples/, docs/, proto/ and tests/.
[[nodiscard]] std::filesystem::path source_directory();

/// Folder of real recordings; it may be absent.
[[nodiscard]] inline std::filesystem::path data_directory() {
  const std::string named = environment_or("ECHOFORM_DATA_DIR", "");
  return named.empty() ? source_directory() / "../shared/data" : std::filesystem::path(named);
}

#ifdef ECHOFORM_PYTHON
[[nodiscard]] inline std::string python_program() {
  return environment_or("ECHOFORM_PYTHON", ECHOFORM_PYTHON);
}

/// Runs Python with these arguments, none of which holds a character that is special between double quotes; what it prints goes
/// to the file `output`, or where this program's does if that is empty. Its status as std::system() returns it.
[[nodiscard]] inline int run_python(const std::vector<std::string>& arguments, const std::string& output = {}) {
  std::string command;
  command.append("'").append(python_program()).append("'");
  for (const std::string& argument : arguments) command.append(" \"").append(argument).append("\"");
  if (!output.empty()) command.append(" > '").append(output).append("' 2>&1");
  return std::system(command.c_str());
}

[[nodiscard]] inline bool python_has(const char* module) {
  return run_python({"-c", std::string("import ").append(module)}, "/dev/null") == 0;
}
#endif

}  // namespace echoform::test

/// Skips the test, naming the module, where Python lacks the module. Use it in SetUp() or a test's body, from which it
/// returns.
#define ECHOFORM_REQUIRE_PYTHON(module)                                                          \
  do {                                                                                           \
    if (!::echoform::test::python_has(module)) GTEST_SKIP() << "no module " module " of Python"; \
  } while (false)
