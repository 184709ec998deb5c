#include "jobs/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "jobs/together.hpp"

namespace echoform {
namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");

constexpr std::string_view signature = "ECHOFORM SOLVER 1\n";

enum class ItemKind : std::uint8_t { of_float = 1, of_double = 2 };

/// The part of a run's progress that is stored.
struct ProgressNumbers {
  explicit ProgressNumbers(const SolverProgress& progress)
      : values{static_cast<double>(progress.iterations), progress.last.misfit, progress.last.objective, progress.last.step,
               progress.last.exhausted ? 1.0 : 0.0} {}
  void put(SolverProgress& progress) const {
    progress.iterations = static_cast<std::size_t>(values[0]);
    progress.last = {.misfit = values[1], .objective = values[2], .step = values[3], .exhausted = values[4] != 0.0};
  }
  static constexpr std::string_view name = "progress";
  std::array<double, 5> values;
};

template <class Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

class CheckpointFile {
 public:
  explicit CheckpointFile(const std::filesystem::path& path) : path_(path), file_(path), out_(file_.aside(), std::ios::binary) {}

  void put(std::span<const std::byte> bytes) {
    digest_.add(bytes);
    out_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  void put(std::string_view name, ItemKind kind, std::uint64_t count, std::span<const std::byte> values) {
    put(bytes_of(std::uint64_t{name.size()}));
    put(std::as_bytes(std::span(name)));
    put(bytes_of(kind));
    put(bytes_of(count));
    put(values);
  }

  void finish() {
    const DigestValue digest = digest_.value();
    out_.write(reinterpret_cast<const char*>(digest.data()), digest.size());
    out_.close();
    if (!out_) throw RuntimeFault(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
    force_to_disk(file_.aside(), O_RDONLY | O_CLOEXEC, false);
    file_.commit();
    // The directory is written too: otherwise a loss of power could bring back the previous checkpoint. Some file systems cannot.
    force_to_disk(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."), O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                  true);
  }

 private:
  void force_to_disk(const std::filesystem::path& path, int flags, bool if_it_can) const {
    const int descriptor = ::open(path.c_str(), flags);
    const bool forced = descriptor >= 0 && ::fsync(descriptor) == 0;
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (forced || (descriptor >= 0 && if_it_can && (error == EINVAL || error == ENOTSUP))) return;
    throw RuntimeFault(fmt::format("{}: cannot be forced to the disk: {}", path_.string(), std::strerror(error)));
  }

  std::filesystem::path path_;
  AtomicFile file_;
  std::ofstream out_;
  Digest digest_;
};

constexpr std::size_t digest_bytes = DigestValue().size();

[[noreturn]] void refuse_kind(const std::filesystem::path& path) {
  throw InputError(path.string(), "no checkpoint", "a file that --checkpoint has written");
}

/// Opens a checkpoint of this job, at the place behind its head.
std::ifstream open_checkpoint(const std::filesystem::path& path, const DigestValue& identity) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw InputError(path.string(), std::strerror(errno), "a checkpoint");
  const std::streamoff size = in.tellg();
  in.seekg(0);
  if (size < 0 || static_cast<std::size_t>(size) < signature.size() + 2 * digest_bytes) refuse_kind(path);
  std::array<char, signature.size() + digest_bytes> head{};
  in.read(head.data(), head.size());
  if (!in) throw InputError(path.string(), "a file that cannot be read", "a checkpoint");
  if (std::memcmp(head.data(), signature.data(), signature.size()) != 0) refuse_kind(path);
  if (std::memcmp(identity.data(), head.data() + signature.size(), digest_bytes) != 0)
    throw InputError(path.string(), "the checkpoint of another job", "one of this configuration and these data");
  return in;
}

struct CheckpointItem {
  std::string_view name;
  ItemKind kind;
  std::uint64_t count;

  [[nodiscard]] std::uint64_t value_bytes() const {
    return count * (kind == ItemKind::of_float ? sizeof(float) : sizeof(double));
  }
  [[nodiscard]] std::uint64_t bytes() const { return 2 * sizeof(std::uint64_t) + 1 + name.size() + value_bytes(); }
};

/// Reads the items of a complete file, one after the other. If the file's beginning or size is wrong, nothing more is read.
class CheckpointContents {
 public:
  CheckpointContents(const std::filesystem::path& path, const DigestValue& identity, std::span<const CheckpointItem> items)
      : path_(path) {
    std::ifstream in = open_checkpoint(path, identity);
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
    std::uint64_t expected = signature.size() + 2 * digest_bytes;
    for (const CheckpointItem& item : items) expected += item.bytes();
    if (static_cast<std::uint64_t>(size) != expected) {
      if (has_other_items(in, items)) throw InputError(path.string(), "the state of another solver", "one of this solver");
      refuse_damage();
    }
    bytes_.resize(static_cast<std::size_t>(size));
    in.clear();
    in.seekg(0);
    in.read(reinterpret_cast<char*>(bytes_.data()), size);
    if (!in) throw InputError(path.string(), "a file that cannot be read", "a checkpoint");
    at_ = signature.size() + digest_bytes;
    end_ = bytes_.size() - digest_bytes;
    Digest digest;
    digest.add(std::span<const std::byte>(bytes_).first(end_));
    const DigestValue value = digest.value();
    if (std::memcmp(value.data(), bytes_.data() + end_, digest_bytes) != 0) refuse_damage();
  }

  /// The values of the next item; their number is the item's `count`.
  std::span<const std::byte> next(const CheckpointItem& item) {
    const auto length = number();
    const auto found = take(length);
    const auto its_kind = take(1);
    const auto its_count = number();
    if (std::string_view(reinterpret_cast<const char*>(found.data()), found.size()) != item.name ||
        static_cast<ItemKind>(its_kind[0]) != item.kind || its_count != item.count)
      throw InputError(path_.string(), "the state of another solver", fmt::format("{}, {} values", item.name, item.count));
    return take(item.value_bytes());
  }
  void finish() const {
    if (at_ != end_) throw InputError(path_.string(), "the state of another solver", "no more items");
  }

 private:
  [[noreturn]] void refuse_damage() const {
    throw InputError(path_.string(), "a damaged file", "a checkpoint as it was written");
  }
  /// Whether the part of the file that exists has other items, rather than too few bytes of these.
  static bool has_other_items(std::ifstream& in, std::span<const CheckpointItem> items) {
    for (const CheckpointItem& item : items) {
      std::uint64_t length = 0;
      if (!in.read(reinterpret_cast<char*>(&length), sizeof length)) return false;
      if (length != item.name.size()) return true;
      std::string name(item.name.size(), ' ');
      ItemKind kind{};
      std::uint64_t count = 0;
      in.read(name.data(), static_cast<std::streamsize>(name.size()));
      in.read(reinterpret_cast<char*>(&kind), sizeof kind);
      if (!in.read(reinterpret_cast<char*>(&count), sizeof count)) return false;
      if (name != item.name || kind != item.kind || count != item.count) return true;
      in.seekg(static_cast<std::streamoff>(item.value_bytes()), std::ios::cur);
    }
    return false;
  }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > end_ - at_) refuse_damage();
    const auto part = std::span<const std::byte>(bytes_).subspan(at_, count);
    at_ += count;
    return part;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::filesystem::path path_;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

/// Number of values of a vector on all processes.
std::size_t whole_size(const Solver::Vector& vector, Communicator& communicator) {
  if (vector.extent == Solver::Extent::shared) return vector.values.size();
  return static_cast<std::size_t>(communicator.sum_of(static_cast<double>(vector.values.size())));
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const DigestValue& identity, const SolverProgress& progress,
                      const Solver::State& state, Communicator& communicator) {
  const bool root = communicator.rank() == 0;
  std::optional<CheckpointFile> file;
  together(communicator, [&] {
    if (!root) return;
    file.emplace(path);
    file->put(std::as_bytes(std::span(signature)));
    file->put(identity);
    const ProgressNumbers numbers(progress);
    file->put(ProgressNumbers::name, ItemKind::of_double, numbers.values.size(), std::as_bytes(std::span(numbers.values)));
    for (const Solver::Number& number : state.numbers) file->put(number.name, ItemKind::of_double, 1, bytes_of(*number.value));
  });
  for (const Solver::Vector& vector : state.vectors) {
    std::vector<float> gathered;
    std::span<const float> whole = vector.values;
    if (vector.extent == Solver::Extent::rows) {
      const std::size_t count = whole_size(vector, communicator);
      if (root) gathered.resize(count);
      communicator.gather(vector.values, gathered);
      whole = gathered;
    }
    if (root) file->put(vector.name, ItemKind::of_float, whole.size(), std::as_bytes(whole));
  }
  together(communicator, [&] {
    if (root) file->finish();
  });
}

void check_checkpoint(const std::filesystem::path& path, const DigestValue& identity) {
  static_cast<void>(open_checkpoint(path, identity));
}

void read_checkpoint(const std::filesystem::path& path, const DigestValue& identity, SolverProgress& progress,
                     const Solver::State& state, Communicator& communicator) {
  const bool root = communicator.rank() == 0;
  std::vector<std::size_t> counts;
  for (const Solver::Vector& vector : state.vectors) counts.push_back(whole_size(vector, communicator));
  ProgressNumbers numbers(progress);
  std::optional<CheckpointContents> contents;
  std::vector<std::span<const std::byte>> values(counts.size());
  together(communicator, [&] {
    if (!root) return;
    std::vector<CheckpointItem> items{{ProgressNumbers::name, ItemKind::of_double, numbers.values.size()}};
    for (const Solver::Number& number : state.numbers) items.push_back({number.name, ItemKind::of_double, 1});
    for (std::size_t k = 0; k < counts.size(); ++k) items.push_back({state.vectors[k].name, ItemKind::of_float, counts[k]});
    contents.emplace(path, identity, items);
    const auto take = [&](std::string_view name, std::span<double> into) {
      const auto bytes = contents->next({name, ItemKind::of_double, into.size()});
      std::memcpy(into.data(), bytes.data(), bytes.size());
    };
    take(ProgressNumbers::name, numbers.values);
    for (const Solver::Number& number : state.numbers) take(number.name, {number.value, 1});
    for (std::size_t k = 0; k < counts.size(); ++k)
      values[k] = contents->next({state.vectors[k].name, ItemKind::of_float, counts[k]});
    contents->finish();
  });
  communicator.broadcast(std::as_writable_bytes(std::span(numbers.values)));
  numbers.put(progress);
  for (const Solver::Number& number : state.numbers) communicator.broadcast(std::as_writable_bytes(std::span(number.value, 1)));
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const Solver::Vector& vector = state.vectors[k];
    // The values are copied from the file's bytes, which may not be aligned as floats are.
    std::vector<float> whole(root && vector.extent == Solver::Extent::rows ? counts[k] : 0);
    if (root && !values[k].empty())
      std::memcpy(whole.empty() ? vector.values.data() : whole.data(), values[k].data(), values[k].size());
    if (vector.extent == Solver::Extent::rows) {
      communicator.scatter(whole, vector.values);
    } else {
      communicator.broadcast(std::as_writable_bytes(vector.values));
    }
  }
}

}  // namespace echoform
