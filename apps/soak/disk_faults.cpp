// Disks that are full or fail. However little space is left, a recording ends, the imaging continues, and the server reports this
// in one line. No server starts with a part of its configuration.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "apps/soak/fault_kinds.hpp"
#include "base/errors.hpp"
#include "base/file_descriptor.hpp"
#include "recording/recorder_section.hpp"
#include "transport/control/zeromq_control.hpp"

namespace echoform::soak {
namespace {

constexpr std::uint64_t kibibyte = 1024;
constexpr std::string_view recording_ends = "recording ends:";

/// While an object exists, each of the server's files may have at most this many bytes. Other limits of a disk would need the
/// rights to mount one; writes fail in the same way.
class FullDisk {
 public:
  FullDisk(pid_t server, std::uint64_t bytes) : server_(server) {
    rlimit limit{};
    if (::prlimit(server_, RLIMIT_FSIZE, nullptr, &before_) == 0) {
      limit = {bytes, before_.rlim_max};
      if (::prlimit(server_, RLIMIT_FSIZE, &limit, nullptr) == 0) return;
    }
    throw RuntimeFault(fmt::format("cannot limit the server's files: {}", std::strerror(errno)));
  }
  ~FullDisk() { ::prlimit(server_, RLIMIT_FSIZE, &before_, nullptr); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  pid_t server_;
  rlimit before_{};
};

void order(const FaultContext& context, std::string_view action, wire::ControlOutcome expected = wire::DONE) {
  wire::ControlRequest request;
  request.set_action(std::string(action));
  const wire::ControlReply reply = ask_control(context.places.control, request, patience);
  if (reply.outcome() != expected)
    throw RuntimeFault(fmt::format("{} was answered {} ({}); expected {}", action, wire::ControlOutcome_Name(reply.outcome()),
                                   reply.reason(), wire::ControlOutcome_Name(expected)));
}

bool records(const FaultContext& context) {
  return !context.places.control.empty() && !section<RecorderSection>(context.configuration).folder.empty();
}

/// Waits for some more images, during which no frames are recorded.
void await_imaging(const FaultContext& context) {
  constexpr std::uint64_t some = 5;
  const std::uint64_t published = value_of(context.judge.read(), counter::published);
  context.judge.await(context.name, fmt::format("{} more images", some),
                      [&](const Counters& found) { return value_of(found, counter::published) >= published + some; });
}

/// After frames were refused, exactly one line of the log must report it.
void require_one_line(const FaultContext& context, std::size_t before) {
  context.judge.await(context.name, "a line of its log",
                      [&](const Counters&) { return context.server_log.count(recording_ends) > before; });
  await_imaging(context);
  if (const std::size_t lines = context.server_log.count(recording_ends) - before; lines != 1)
    throw RuntimeFault(fmt::format("{} lines of the server's log say \"{}\"; expected 1", lines, recording_ends));
}

/// Removes files that a recording has left and returns their number. Only files of the soak's own configuration are touched.
std::size_t remove_files(const FaultContext& context) {
  if (!context.configuration.file.empty()) return 0;
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(section<RecorderSection>(context.configuration).folder)) {
    std::filesystem::remove(file.path());
    ++files;
  }
  return files;
}

}  // namespace

void recording_begins_on_a_full_disk(const FaultContext& context) {
  if (!records(context)) return;
  const std::size_t lines = context.server_log.count(recording_ends);
  {
    const FullDisk disk(context.server, kibibyte * context.pick(4, 64));
    order(context, "start_recording");
    require_one_line(context, lines);
  }
  order(context, "stop_recording", wire::FAILED);  // it ended by itself before this
  if (const std::size_t files = remove_files(context); files > 0)
    throw RuntimeFault(fmt::format("{} files are left of a recording without a frame; expected none", files));
}

void disk_fills_while_recording(const FaultContext& context) {
  if (!records(context)) return;
  const std::size_t lines = context.server_log.count(recording_ends);
  const std::uint64_t recorded = value_of(context.judge.read(), counter::recorded);
  order(context, "start_recording");
  context.judge.await(context.name, "a frame recorded",
                      [&](const Counters& found) { return value_of(found, counter::recorded) > recorded; });
  {
    const FullDisk disk(context.server, kibibyte * context.pick(4, 64));
    require_one_line(context, lines);
  }
  order(context, "stop_recording", wire::FAILED);  // it ended by itself before this
  static_cast<void>(remove_files(context));
}

void configuration_cannot_be_read(const FaultContext& /*context*/) {
  // A regular file of the kernel whose first byte cannot be read.
  constexpr std::string_view failing = "/proc/self/mem";
  const FileDescriptor log(::memfd_create("log", MFD_CLOEXEC));
  if (!log) throw RuntimeFault(fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
  std::string said = "nothing, and started";
  try {
    const ServerProcess server({"--log-level", "warning", "serve", "--config", std::string(failing)},
                               path_of_descriptor(log.get()));
  } catch (const RuntimeFault& fault) {
    said = fault.what();
  }
  if (said.find(failing) == std::string::npos || said.find(std::strerror(EIO)) == std::string::npos)
    throw RuntimeFault(
        fmt::format("of a configuration that cannot be read a server said: {}; expected {}", said, std::strerror(EIO)));
}

}  // namespace echoform::soak
