// A sink of one's own: where the strongest pixel of each view is, and its value, as lines of a file. What it counts shows in
// telemetry, in /metrics, on the viewer page and by `control status`.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/doors.hpp"
#include "base/errors.hpp"
#include "config/key_types.hpp"

using namespace echoform;

namespace {

struct StrongestSection {
  std::string file;  ///< empty: no such sink
  std::size_t every = 1;
};

class StrongestSink final : public ImageSink {
 public:
  /// Throws RuntimeFault unless the file can be written.
  StrongestSink(const std::filesystem::path& path, std::size_t every) : path_(path.string()), every_(every) {
    file_.reset(std::fopen(path_.c_str(), "w"));
    if (!file_) throw RuntimeFault(fmt::format("{}: cannot be written", path_));
    if (!write("sequence,view,x,z,value\n")) throw RuntimeFault(fmt::format("{}: cannot be written", path_));
  }

  void setup_changed(std::shared_ptr<const ImagingSetup> /*setup*/) override { setups_.fetch_add(1, std::memory_order_relaxed); }

  void publish(const FinishedFrame& frame) noexcept override {
    if (frames_++ % every_ != 0 || !frame.slot.envelope_wanted) return;
    const auto& outputs = frame.setup.recipe.outputs;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const OutputDescription& image = outputs[k].description;
      if (image.kind != OutputKind::envelope) continue;
      const auto* const pixels = static_cast<const float*>(frame.slot.outputs[k].data.data());
      const auto place = static_cast<std::size_t>(std::max_element(pixels, pixels + image.grid.pixels()) - pixels);
      const Point at = image.grid.at(place);
      // Nothing is allocated for a frame.
      char line[256];
      const auto end = fmt::format_to_n(line, sizeof line, "{},{},{:.9g},{:.9g},{:.9g}\n", frame.slot.sequence, image.view,
                                        at.x.value, at.z.value, pixels[place]);
      const bool written = write({line, std::min(end.size, sizeof line)});
      (written ? lines_ : failures_).fetch_add(1, std::memory_order_relaxed);
      value_.store(pixels[place], std::memory_order_relaxed);
    }
  }

  [[nodiscard]] std::vector<SinkFigure> figures() const override {
    return {
        {"lines", "Lines written.", static_cast<double>(lines_.load(std::memory_order_relaxed)), true},
        {"failures", "Lines that could not be written.", static_cast<double>(failures_.load(std::memory_order_relaxed)), true},
        {"setups", "Setups that were announced.", static_cast<double>(setups_.load(std::memory_order_relaxed)), true},
        {"value", "The strongest pixel of the last line.", value_.load(std::memory_order_relaxed)}};
  }
  [[nodiscard]] std::string summary() const override {
    return fmt::format("strongest pixels {} lines", lines_.load(std::memory_order_relaxed));
  }
  [[nodiscard]] std::string describe() const override { return fmt::format("every {}. frame to {}", every_, path_); }

 private:
  /// Whether it is in the file, not in a buffer alone.
  bool write(std::string_view text) noexcept {
    return std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() && std::fflush(file_.get()) == 0;
  }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::string path_;
  const std::size_t every_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t frames_ = 0;
  std::atomic<std::uint64_t> lines_{0}, failures_{0}, setups_{0};
  std::atomic<float> value_{0.0F};
};

std::shared_ptr<ImageSink> make_sink(const Configuration& configuration) {
  const auto& wanted = section<StrongestSection>(configuration);
  if (wanted.file.empty()) return nullptr;
  return std::make_shared<StrongestSink>(named_file(configuration, wanted.file), wanted.every);
}

}  // namespace

SinkDoor strongest_door();
SinkDoor strongest_door() {
  SinkDoor door{"strongest", make_sink};
  door.keys.sections = {{"strongest", "The strongest pixel of each view, as lines of a file."}};
  Key file = keys::text(
      {"strongest", "file", "", "The list, which is written anew; empty: none."}, "", keys::any_text,
      [](auto& c) -> auto& { return section<StrongestSection>(c).file; });
  file.names_file = true;
  door.keys.keys.push_back(std::move(file));
  door.keys.keys.push_back(keys::integer(
      {"strongest", "every", "", "Which frames have lines: every so many."}, keys::within(1, 1e6),
      [](auto& c) -> auto& { return section<StrongestSection>(c).every; }));
  return door;
}
