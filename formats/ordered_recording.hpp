// Recordings whose files hold the A-scans of a frame one after the other, in an order of the file's own.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "formats/pair_order.hpp"
#include "formats/recording.hpp"

namespace echoform::formats {

/// What a derived reader owes is where the A-scans lie: read_source().
class OrderedRecording : public Recording {
 public:
  void read_frame(std::size_t frame, std::span<float> samples) override;
  [[nodiscard]] Acquisition stored() const override;
  void read_stored(std::size_t frame, std::span<std::byte> bytes) override;
  void read_rows(std::size_t frame, std::span<const RowRange> rows, std::span<std::byte> bytes) override;
  [[nodiscard]] std::size_t reading_bytes() const override;

 protected:
  using Recording::Recording;

  /// How the numbers of the file become amplitudes: (number - zero) * scale. As counts they are int16, and zero is 0.
  struct Amplitudes {
    bool as_counts = false;
    double scale = 1.0;
    double zero = 0.0;
  };

  /// `file_rows`: A-scans of a frame of the file, of which the order's sources are. Once acquisition_ is complete.
  void set_order(PairOrder order, std::size_t file_rows, const Amplitudes& amplitudes);
  [[nodiscard]] const PairOrder& order() const { return order_; }
  [[nodiscard]] bool as_counts() const { return amplitudes_.as_counts; }
  [[nodiscard]] std::size_t file_rows() const { return rows_of_source_.size(); }

  /// `count` A-scans of the file's frame from its `first` on, as int16 or float32. Throws InputError where they cannot be read.
  virtual void read_source(std::size_t frame, std::size_t first, std::size_t count, std::span<std::byte> to) = 0;
  /// Whether reading some A-scans costs as much as reading all, as of data that are packed together.
  [[nodiscard]] virtual bool reads_whole_frames() const { return false; }
  /// The place of A-scan `source` of the file, for messages.
  [[nodiscard]] virtual std::string place_of(std::size_t frame, std::size_t source) const;

 private:
  static constexpr std::size_t no_row = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] std::size_t number_bytes() const;
  [[nodiscard]] std::size_t row_bytes() const { return acquisition_.samples * number_bytes(); }
  [[nodiscard]] std::size_t rows_at_once() const;
  template <class Use>
  void for_each_block(std::size_t frame, const Use& use);
  void to_amplitudes(std::size_t frame, std::size_t source, std::span<float> samples) const;

  PairOrder order_;
  std::vector<std::size_t> rows_of_source_;  // of the frame, by A-scan of the file; no_row: in none
  Amplitudes amplitudes_;
};

}  // namespace echoform::formats
