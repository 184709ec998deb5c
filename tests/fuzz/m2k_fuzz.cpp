// What describes a .m2k folder, from memory, and the recording that it makes with a file of samples of one size.
//
// Input: M2kConfig.xml, acq_desc.xml and acq_desc.bin, each up to a byte of 0; the last takes the rest.
#include <unistd.h>

#include <sstream>

#include "formats/m2k_configuration.hpp"
#include "formats/m2k_index.hpp"
#include "formats/recording_formats.hpp"
#include "tests/fuzz/recording_check.hpp"

namespace {

using namespace echoform;

constexpr std::size_t sample_bytes = 512;
constexpr formats::M2kLimits limits{.elements = 64, .firings = 64, .salvos = 4};
constexpr formats::M2kIndexLimits index_limits{
    .shots = 64, .channels = 64, .descriptions = 4096, .positions = 64, .places = 4096};

/// A folder in memory, gone with the program.
class Folder {
 public:
  Folder() {
    const std::filesystem::path memory = "/dev/shm";
    path_ = (std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
            fmt::format("echoform-fuzz-{}.m2k", ::getpid());
    std::filesystem::create_directories(path_ / "acq_files");
    write("acq_files/acq_data.bin", std::string(sample_bytes, '\x5A'));
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const char* name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary | std::ios::trunc)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

template <class Check>
void check(const Check& checked) {
  try {
    checked();
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  fuzz::Input input(data, size);
  const std::string configuration(input.take_until('\0'));
  const std::string description(input.take_until('\0'));
  const std::string binary(input.text());
  check([&] {
    std::istringstream xml(configuration);
    const formats::M2kConfiguration found = formats::read_m2k_configuration(xml, "M2kConfig.xml", limits);
    fuzz::require(found.array.elements <= limits.elements && found.salvos.size() <= limits.salvos, "what is within the limits");
    for (const formats::M2kSalvo& salvo : found.salvos) {
      fuzz::require(salvo.sample_rate >= 1.0 && std::isfinite(salvo.start) && !salvo.firings.empty(), "a salvo");
      for (const formats::M2kFiring& firing : salvo.firings) {
        fuzz::require(firing.emitters.size() <= limits.elements && firing.receivers.size() <= limits.elements,
                      "elements within the limit");
      }
    }
  });
  check([&] {
    std::istringstream xml(configuration);
    fuzz::require(formats::read_m2k_array(xml, "M2kConfig.xml", limits).elements <= limits.elements, "elements within the limit");
  });
  check([&] {
    std::istringstream xml(description);
    std::istringstream bytes(binary);
    const formats::M2kIndex found = formats::read_m2k_index(xml, "acq_desc.xml", bytes, "acq_desc.bin", index_limits);
    fuzz::require(found.positions >= 1 && found.places.size() == found.positions * found.shots.size(), "a place for each shot");
  });
  folder.write("M2kConfig.xml", configuration);
  folder.write("acq_files/acq_desc.xml", description);
  folder.write("acq_files/acq_desc.bin", binary);
  fuzz::check_recording([&] { return formats::m2k_format.open_folder(folder.path(), fuzz::small_recordings); });
  return 0;
}
