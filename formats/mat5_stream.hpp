// Bounded byte streams for the MAT-file checker: a file, and a zlib stream inside it.
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "formats/input_file.hpp"
#include "formats/mat5_points.hpp"

namespace echoform::formats {

/// Reads forward only. Positions count from the start of the stream.
class Mat5Stream {
 public:
  virtual ~Mat5Stream() = default;
  /// Reads exactly `count` bytes, or returns false if the stream ends before or is damaged (see fault()).
  [[nodiscard]] virtual bool read(void* to, std::uint64_t count) = 0;
  [[nodiscard]] virtual bool skip(std::uint64_t count) = 0;
  [[nodiscard]] virtual std::uint64_t position() const = 0;
  /// "offset 1234", or the offset inside a compressed element.
  [[nodiscard]] virtual std::string place() const = 0;
  /// Why the last read failed.
  [[nodiscard]] virtual std::string fault() const = 0;
};

class Mat5File final : public Mat5Stream {
 public:
  explicit Mat5File(const InputFile& input);
  [[nodiscard]] bool read(void* to, std::uint64_t count) override;
  [[nodiscard]] bool skip(std::uint64_t count) override;
  /// Goes on at byte `position`, also behind a fault; false if the file ends before.
  [[nodiscard]] bool seek(std::uint64_t position);
  [[nodiscard]] std::uint64_t position() const override { return position_; }
  [[nodiscard]] std::string place() const override;
  [[nodiscard]] std::string fault() const override { return "the end of the file"; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
};

/// Inflates `compressed` bytes of `file` from its present position on, and notes points where it can be begun again.
class Mat5Inflater final : public Mat5Stream {
 public:
  Mat5Inflater(Mat5File& file, std::uint64_t compressed);
  ~Mat5Inflater() override;
  Mat5Inflater(const Mat5Inflater&) = delete;
  Mat5Inflater& operator=(const Mat5Inflater&) = delete;

  [[nodiscard]] bool read(void* to, std::uint64_t count) override;
  [[nodiscard]] bool skip(std::uint64_t count) override;
  [[nodiscard]] std::uint64_t position() const override { return position_; }
  [[nodiscard]] std::string place() const override;
  [[nodiscard]] std::string fault() const override { return fault_; }
  /// Those of what is inflated, when all of it is.
  [[nodiscard]] const std::shared_ptr<Mat5Points>& points() const noexcept { return points_; }
  /// Whether the zlib stream ends here, checksum included, and all compressed bytes are used.
  [[nodiscard]] bool at_end();

 private:
  /// Produces up to `count` bytes; false if the stream is damaged or ends first.
  bool inflate_some(std::uint8_t* to, std::uint32_t count);

  Mat5File& file_;
  std::uint64_t start_;
  std::uint64_t compressed_left_;
  std::uint64_t position_ = 0;
  std::string fault_;
  z_stream zlib_{};
  bool ended_ = false;
  std::shared_ptr<Mat5Points> points_ = std::make_shared<Mat5Points>();
  std::array<std::uint8_t, 1 << 16> input_{};
  std::array<std::uint8_t, 1 << 16> scratch_{};
};

}  // namespace echoform::formats
