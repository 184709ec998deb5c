// The structure exp_data of a MATLAB file, of whichever version: its fields and its samples, each checked as it is asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/input_file.hpp"
#include "formats/mat5_numbers.hpp"

namespace echoform::formats {

class BrainFields {
 public:
  virtual ~BrainFields() = default;
  BrainFields(const BrainFields&) = delete;
  BrainFields& operator=(const BrainFields&) = delete;

  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  [[nodiscard]] virtual std::unique_ptr<const BrainFields> structure(const std::string& name) const = 0;
  /// The field's real numbers in the file's (column-major) order; at least one.
  [[nodiscard]] virtual std::vector<double> numbers(const std::string& name) const = 0;
  /// The field's shape, as MATLAB has it. Its values need not have been read. Throws InputError unless the field is a numeric
  /// array of two dimensions.
  [[nodiscard]] virtual std::array<std::size_t, 2> shape(const std::string& name) const = 0;

  /// Numbers that must all be finite; `count` of them unless 0.
  [[nodiscard]] std::vector<double> finite(const std::string& name, std::size_t count = 0) const;

  [[nodiscard]] std::string full(const std::string& name) const { return path_ + "." + name; }
  /// "FILE: exp_data.NAME", for messages.
  [[nodiscard]] std::string where(const std::string& name) const { return file_ + ": " + full(name); }

 protected:
  BrainFields(std::string file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  [[nodiscard]] std::string place() const { return file_ + ": " + path_; }

  std::string file_;
  std::string path_;
};

/// time_data, some of it at a time.
class BrainSamples {
 public:
  virtual ~BrainSamples() = default;
  BrainSamples() = default;
  BrainSamples(const BrainSamples&) = delete;
  BrainSamples& operator=(const BrainSamples&) = delete;

  /// values.size() numbers from `first` on, in the file's (column-major) order. Throws InputError where they cannot be read.
  virtual void read(std::uint64_t first, std::span<float> values) = 0;
  /// Bytes of memory that reading `count` numbers at a time takes, at most.
  [[nodiscard]] virtual std::size_t most_bytes(std::size_t count) const = 0;
};

/// A file of either version: exp_data, and where its samples are. Throws InputError where it has none that can be read.
struct BrainFile {
  std::unique_ptr<const BrainFields> data;
  std::unique_ptr<BrainSamples> samples;
};

/// Version 5 or 7, whose every element has been checked; `time_data` is where the samples lie, if it has some.
[[nodiscard]] BrainFile open_brain_mat5(const InputFile& file, std::optional<Mat5Place> time_data);
/// Version 7.3, in HDF5.
[[nodiscard]] BrainFile open_brain_hdf5(const InputFile& file);

}  // namespace echoform::formats
