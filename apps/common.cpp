#include "apps/common.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "apps/log.hpp"
#include "base/errors.hpp"
#include "base/terminal_text.hpp"
#include "formats/recording.hpp"
#include "offline/settled_backend.hpp"
#include "settings/reader.hpp"

namespace echoform {

Configuration configuration_from(const std::string& path) {
  return path.empty() ? Configuration{} : load_configuration(path);
}

void add_backend_option(CLI::App& options, std::string& backend) {
  options
      .add_option("--backend", backend,
                  "Where images are formed: auto, cpu, cuda or cuda:DEVICE (default: [imaging] backend and device)")
      ->option_text("WORD");
}

void apply_backend_option(const std::string& backend, Configuration& configuration) {
  ImagingSection& imaging = configuration.imaging;
  constexpr std::string_view with_device = "cuda:";
  if (backend == "auto") {
    imaging.backend = BackendWish::automatic;
  } else if (backend == "cpu") {
    imaging.backend = BackendWish::cpu;
  } else if (backend == "cuda") {
    imaging.backend = BackendWish::cuda;
  } else if (backend.starts_with(with_device)) {
    const char* const end = backend.data() + backend.size();
    const auto [rest, fault] = std::from_chars(backend.data() + with_device.size(), end, imaging.device);
    if (fault != std::errc() || rest != end || imaging.device < 0) {
      throw InputError("--backend", fmt::format("\"{}\"", backend), "cuda: and the number of a device (see `echoform info`)");
    }
    imaging.backend = BackendWish::cuda;
  } else if (!backend.empty()) {
    throw InputError("--backend", fmt::format("\"{}\"", backend), "auto, cpu, cuda or cuda:DEVICE");
  }
}

void settle_backend(Configuration& configuration) {
  if (const std::string note = settled_backend(configuration); !note.empty()) spdlog::info("{}", note);
}

void log_warnings(const Recording& recording) {
  for (const std::string& line : recording.warnings()) spdlog::warn("{}", line);
}

CLI::Validator whole_number() {
  return {[](const std::string& text) {
            const bool digits =
                !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
            return digits ? std::string() : fmt::format("found \"{}\"; expected a whole number from 0", text);
          },
          ""};
}

bool on_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

ProgressBar::ProgressBar(std::vector<double> lengths) : lengths_(std::move(lengths)), shown_(on_terminal()) {}

ProgressBar::~ProgressBar() {
  if (shown_ && started_) write_status("\r\033[K");
}

void ProgressBar::step(std::string_view what) {
  if (started_ && done_ < lengths_.size()) ++done_;
  started_ = true;
  draw(0.0, what);
}

void ProgressBar::share(double done, std::string_view what) {
  if (std::chrono::steady_clock::now() - drawn_ < std::chrono::milliseconds(100)) return;
  draw(std::clamp(done, 0.0, 1.0), what);
}

void ProgressBar::draw(double share, std::string_view what) {
  if (!shown_) return;
  constexpr std::size_t width = 24;
  const auto present = lengths_.begin() + static_cast<std::ptrdiff_t>(done_);
  const double done = std::accumulate(lengths_.begin(), present, 0.0) + (present == lengths_.end() ? 0.0 : share * *present);
  const double all = std::accumulate(lengths_.begin(), lengths_.end(), 0.0);
  const auto filled = std::min(width, static_cast<std::size_t>(width * done / all));
  write_status(
      fmt::format("\r\033[K[{:#<{}}{:.<{}}] {}", "", filled, "", width - filled, terminal_text(what, LineBreaks::replaced)));
  drawn_ = std::chrono::steady_clock::now();
}

void LiveLine::show(std::string_view line) {
  const std::string text = terminal_text(line, LineBreaks::replaced);
  write_status(terminal_ ? fmt::format("\r\033[K{}", text) : fmt::format("{}\n", text));
  open_ = terminal_;
}

void LiveLine::finish() {
  if (open_) write_status("\n");
  open_ = false;
}

}  // namespace echoform
