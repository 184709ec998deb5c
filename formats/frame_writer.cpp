#include "formats/frame_writer.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "formats/brain_mat_writer.hpp"
#include "formats/capture_frame_writer.hpp"
#include "formats/ipasc_writer.hpp"
#include "formats/mfmc_writer.hpp"
#include "formats/onde_writer.hpp"
#include "formats/uff_writer.hpp"

namespace echoform {
namespace {

using Check = void (*)(const Acquisition& acquisition, const std::string& where);
using Make = std::unique_ptr<FrameWriter> (*)(const std::filesystem::path& path, const Acquisition& acquisition,
                                              const FrameWriterOptions& options);

template <class Writer>
std::unique_ptr<FrameWriter> make(const std::filesystem::path& path, const Acquisition& acquisition,
                                  const FrameWriterOptions& options) {
  return std::make_unique<Writer>(path, acquisition, options);
}

struct Format {
  std::string_view extension;
  Check check;
  Make make;
  std::uint64_t most_frames = 0;   ///< 0: any number
  std::string_view velocity_of{};  ///< whose definition wants the velocity of longitudinal waves; empty: nobody's
};

// One line a format.
constexpr Format formats_written[] = {
    {".mfmc", check_mfmc_holds, make<MfmcWriter>},
    {".efcap", check_capture_holds, make<CaptureFrameWriter>},
    {".mat", check_brain_mat_holds, make<BrainMatWriter>, 1},
    {".hdf5", check_ipasc_holds, make<IpascWriter>},
    {".onde", check_onde_holds, make<OndeWriter>},
    {".uff", check_uff_holds, make<UffWriter>, 0, "USTB's channel data"},
};

const Format& format_of(const std::filesystem::path& path, const std::string& where) {
  for (const Format& format : formats_written) {
    if (path.extension() == format.extension) return format;
  }
  throw InputError(where, fmt::format("\"{}\"", path.filename().string()),
                   fmt::format("a file that ends in {}", fmt::join(frame_file_extensions(), ", ")));
}

}  // namespace

std::vector<std::string> frame_file_extensions() {
  std::vector<std::string> extensions;
  for (const Format& format : formats_written) extensions.emplace_back(format.extension);
  return extensions;
}

void check_frame_file_name(const std::filesystem::path& path, const std::string& where) {
  static_cast<void>(format_of(path, where));
}

void check_frame_file_states(const std::filesystem::path& path, const Material& material) {
  const std::string_view velocity_of = format_of(path, path.string()).velocity_of;
  if (velocity_of.empty() || material.longitudinal_velocity.value > 0.0) return;
  throw InputError(path.string(), "no velocity of longitudinal waves",
                   fmt::format("one, which {} states: `convert --longitudinal-velocity M/S`, or `[material] "
                               "longitudinal_velocity` of `record` and `serve`",
                               velocity_of));
}

std::uint64_t most_frames_of_file(const std::filesystem::path& path) {
  return format_of(path, path.string()).most_frames;
}

void check_frame_file_holds(const std::filesystem::path& path, const Acquisition& acquisition, const std::string& where) {
  format_of(path, where).check(acquisition, where);
}

std::unique_ptr<FrameWriter> make_frame_writer(const std::filesystem::path& path, const Acquisition& acquisition,
                                               const FrameWriterOptions& options) {
  check_frame_file_states(path, options.material);
  return format_of(path, path.string()).make(path, acquisition, options);
}

}  // namespace echoform
