// Stands in for libFuzzer: runs the fuzzer of this program once over every file that the arguments name, or that lies in a
// folder that they name. A finding ends the program, as it does there.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** arguments) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < count; ++i) {
    if (std::filesystem::is_directory(arguments[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) files.push_back(entry.path());
    } else {
      files.emplace_back(arguments[i]);
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    fmt::print(stderr, "found no input; expected files or folders of them\n");
    return 2;
  }
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      fmt::print(stderr, "{}: found a file that cannot be read; expected an input\n", path.string());
      return 2;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    fmt::print(stderr, "{} ({} bytes)\n", path.filename().string(), bytes.size());
    // A copy of exactly this size, so that a sanitizer sees a read beyond its end.
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  fmt::print("{} inputs\n", files.size());
  return 0;
}
