// echoform convert: a recording in another format.
#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <vector>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "formats/atomic_file.hpp"
#include "formats/mfmc_writer.hpp"
#include "formats/recording.hpp"
#include "pipeline/errors.hpp"

namespace echoform {
namespace {

int convert(const std::string& input, const std::string& output) {
  const std::filesystem::path path(output);
  if (path.extension() != ".mfmc") throw InputError("OUTPUT", fmt::format("\"{}\"", output), "a file that ends in .mfmc");
  check_output_place(path);
  if (std::error_code error; std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    throw InputError(output, "a file that is there already", "a new one (recordings are not overwritten)");
  const auto recording = open_recording(input);
  const Acquisition& acquisition = recording->acquisition();
  for (std::size_t frame = 1; frame < recording->frames(); ++frame) {
    if (recording->probe(frame) != acquisition.probe) {
      throw InputError(fmt::format("{}, frame {}", input, frame), "a probe that has moved", "one that stays where it is");
    }
  }
  AtomicFile aside(path);
  MfmcWriter writer(aside.aside(), acquisition, {.material = recording->material()});
  std::vector<float> samples(acquisition.a_scans() * acquisition.samples);
  ProgressBar bar(recording->frames());
  for (std::size_t frame = 0; frame < recording->frames(); ++frame) {
    bar.step(fmt::format("frame {}", frame));
    recording->read_frame(frame, samples);
    writer.append(std::as_bytes(std::span(samples)));
  }
  writer.close();
  aside.commit();
  fmt::print("{}\nwrote {} frames to {}\n", recording->describe(), writer.frames(), output);
  return 0;
}

}  // namespace

Action define_convert(CLI::App& options) {
  struct Chosen {
    std::string input;
    std::string output;
  };
  auto chosen = std::make_shared<Chosen>();
  options.add_option("INPUT", chosen->input, "The recording: .mat or .mfmc")->required();
  options.add_option("OUTPUT", chosen->output, "A new file that ends in .mfmc")->required();
  return [chosen] { return convert(chosen->input, chosen->output); };
}

}  // namespace echoform
