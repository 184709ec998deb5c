#include "config/configuration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "base/errors.hpp"

namespace echoform {

std::string text_of(const GridPixels& pixels) {
  return pixels.y == 1 ? fmt::format("{} x {}", pixels.x, pixels.z) : fmt::format("{} x {} x {}", pixels.x, pixels.y, pixels.z);
}

std::string ImagingSettings::place(std::string_view key) const {
  return fmt::format("{}: {}", name(), key);
}

std::filesystem::path named_file(const ImagingSettings& settings, const std::string& name) {
  return std::filesystem::path(settings.file).parent_path() / name;
}

BackendChoice backend_choice(const ImagingSection& imaging) {
  BackendChoice choice;
  choice.automatic = imaging.backend == BackendWish::automatic;
  choice.kind = imaging.backend == BackendWish::cuda ? BackendKind::cuda : BackendKind::cpu;
  choice.threads = imaging.threads;
  choice.pin = imaging.pin_threads;
  choice.device = imaging.device;
  choice.gpu_timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(imaging.gpu_timeout.value));
  return choice;
}

HostPort parse_host_port(std::string_view text, std::string_view where) {
  const auto refuse = [&] { throw InputError(where, fmt::format("\"{}\"", text), "HOST:PORT with a port from 0 to 65535"); };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) refuse();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.front() == '[' && host.back() == ']' && host.size() > 2) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]/ ") != std::string_view::npos) {
    refuse();
  }
  HostPort result;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), result.port);
  if (digits.empty() || fault != std::errc() || end != digits.data() + digits.size()) refuse();
  result.host = host;
  return result;
}

}  // namespace echoform
