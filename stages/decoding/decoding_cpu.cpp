#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "stages/decoding/decoding.hpp"
#include "stages/decoding/decoding_kernels.hpp"
#include "stages/decoding/decoding_sizes.hpp"
#include "stages/raw_rows/sample_scale.hpp"

namespace echoform {
namespace {

/// Processes a piece of all A-scans of one receiver at a time: gathers it, decodes it, and puts it into the rows of its elements.
/// For sums, the pieces of all receivers are kept until they are added.
class DecodingCpu final : public Stage {
 public:
  DecodingCpu(DecodingOptions options, std::size_t members, SimdLevel level)
      : options_(std::move(options)), members_(std::max<std::size_t>(1, members)), kernels_(decoding_kernels(level)) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    output_ = decoding_output(options_, inputs.only("decoding"), BackendKind::cpu);
    sizes_ = decoding_sizes_cpu(options_);
    const DecodingMatrix& matrix = *options_.inverse;
    hadamard_ = takes_hadamard_route(options_, BackendKind::cpu);
    scale_ = hadamard_ ? 1.0F / static_cast<float>(matrix.events) : 1.0F;
    streaming_ = output_.bytes() > streaming_bytes;
    matrix_.assign(sizes_.matrix, 0.0F);
    for (std::size_t element = 0; element < matrix.elements && !hadamard_; ++element) {
      for (std::size_t event = 0; event < matrix.events; ++event) {
        const std::size_t block = element / product_rows * product_rows * matrix.events;
        matrix_[block + event * product_rows + element % product_rows] =
            static_cast<float>(matrix.weights[element * matrix.events + event]);
      }
    }
    place_rows();
    sum_rows_.assign(sizes_.sum_rows, 0);
    for (const PairRun& run : options_.pairs.lookups) {
      for (std::size_t k = 0; k < run.count && sizes_.sum_rows != 0; ++k) {
        sum_rows_[run.event * matrix.elements + run.receiver + k] = run.row + k;
      }
    }
    memory_.assign(members_ * sizes_.of_member(), 0.0F);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t pieces = (output_.columns + sizes_.piece - 1) / sizes_.piece;
    const std::size_t receivers = options_.pairs.receivers;
    if (!options_.pairs.summed) {
      team_of(queue).for_each(receivers * pieces, 1, [&](std::size_t first, std::size_t last, std::size_t member) {
        for (std::size_t item = first; item < last; ++item) {
          const Piece piece = piece_of(item / pieces, item % pieces);
          store(decode(input.as<float>(), piece, member, 0), piece, output.as<float>());
        }
      });
      return;
    }
    // A sum belongs to two receivers. So a member handles all receivers, some samples at a time.
    team_of(queue).for_each(pieces, 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t item = first; item < last; ++item) {
        const float* decoded = nullptr;
        for (std::size_t receiver = receivers; receiver-- > 0;) {
          decoded = decode(input.as<float>(), piece_of(receiver, item), member, receiver);
        }
        store_sums(decoded, piece_of(0, item), output.as<float>());
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return (matrix_.size() + memory_.size()) * sizeof(float) + sum_rows_.size() * sizeof(std::size_t);
  }

 private:
  struct Piece {
    std::size_t receiver = 0;
    std::size_t first = 0;  // first sample
    std::size_t count = 0;
  };
  [[nodiscard]] Piece piece_of(std::size_t receiver, std::size_t index) const noexcept {
    const std::size_t first = index * sizes_.piece;
    return {receiver, first, std::min(sizes_.piece, output_.columns - first)};
  }

  /// Sets which event is gathered into each row of a piece, and in which row each element stands after decoding.
  void place_rows() {
    const DecodingMatrix& matrix = *options_.inverse;
    event_of_row_.resize(matrix.events);
    row_of_element_.assign(matrix.elements, silent);
    if (hadamard_) {
      const SylvesterOrder& order = *matrix.sylvester;
      std::ranges::copy(order.event_of_row, event_of_row_.begin());
      for (std::size_t column = 0; column < matrix.events; ++column) {
        const std::uint32_t element = order.element_of_column[column];
        if (element != SylvesterOrder::nobody) row_of_element_[element] = column;
      }
      return;
    }
    for (std::size_t event = 0; event < matrix.events; ++event) event_of_row_[event] = event;
    for (std::size_t element = 0; element < matrix.elements; ++element) row_of_element_[element] = element;
  }

  /// Decodes into the `place`-th of the pieces that a member keeps. Returns the location of the decoded rows.
  [[nodiscard]] const float* decode(const float* input, const Piece& piece, std::size_t member, std::size_t place) noexcept {
    float* const own = memory_.data() + member * sizes_.of_member();
    float* const aligned = own + (64 - reinterpret_cast<std::uintptr_t>(own) % 64) % 64 / sizeof(float);
    const std::size_t width = (piece.count + 31) / 32 * 32;
    const RowPiece decoded{aligned + sizes_.received + place * sizes_.decoded, sizes_.piece, width};
    const RowPiece received{hadamard_ ? decoded.rows : aligned, sizes_.piece, width};
    for (std::size_t row = 0; row < event_of_row_.size(); ++row) {
      const std::size_t from = event_of_row_[row] * options_.pairs.receivers + piece.receiver;
      float* const to = received.rows + row * received.pitch;
      std::memcpy(to, input + from * output_.row_stride + piece.first, piece.count * sizeof(float));
      std::fill(to + piece.count, to + width, 0.0F);
    }
    if (hadamard_) {
      kernels_.walsh_hadamard(received, event_of_row_.size());
    } else {
      kernels_.product(matrix_.data(), sizes_.decoded_rows, options_.inverse->events, received, decoded);
    }
    return decoded.rows;
  }

  void store(const float* decoded, const Piece& piece, float* output) const noexcept {
    for (std::size_t element = 0; element < row_of_element_.size(); ++element) {
      float* const to = output + (element * options_.pairs.receivers + piece.receiver) * output_.row_stride + piece.first;
      put(row_of(decoded, element), nullptr, to, piece.count);
    }
  }

  /// `decoded` points to the piece of the first receiver.
  void store_sums(const float* decoded, const Piece& piece, float* output) const noexcept {
    const std::size_t elements = row_of_element_.size();
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t j = i; j < elements; ++j) {
        const float* const forward = row_of(decoded + j * sizes_.decoded, i);
        const float* const backward = i == j ? nullptr : row_of(decoded + i * sizes_.decoded, j);
        put(forward, backward, output + sum_rows_[i * elements + j] * output_.row_stride + piece.first, piece.count);
      }
    }
  }

  /// The row of an element in the piece of a receiver; null if the element is silent.
  [[nodiscard]] const float* row_of(const float* decoded, std::size_t element) const noexcept {
    const std::size_t row = row_of_element_[element];
    return row == silent ? nullptr : decoded + row * sizes_.piece;
  }

  void put(const float* one, const float* other, float* to, std::size_t count) const noexcept {
    if (one != nullptr && other != nullptr) {
      kernels_.put_sum(one, other, to, count, scale_, streaming_);
    } else if (one != nullptr || other != nullptr) {
      kernels_.put(one != nullptr ? one : other, to, count, scale_, streaming_);
    } else {
      std::fill(to, to + count, 0.0F);
    }
  }

  static constexpr std::size_t silent = ~std::size_t{0};

  DecodingOptions options_;
  std::size_t members_;
  DecodingKernels kernels_;
  BlockSpec output_;
  DecodingSizesCpu sizes_;
  bool hadamard_ = false;
  float scale_ = 1.0F;
  bool streaming_ = false;
  std::vector<float> matrix_;
  std::vector<float> memory_;  // for all members
  std::vector<std::size_t> event_of_row_;
  std::vector<std::size_t> row_of_element_;
  std::vector<std::size_t> sum_rows_;  // [element, element], the smaller index first
};

}  // namespace

std::unique_ptr<Stage> make_decoding_cpu(DecodingOptions options, std::size_t members, SimdLevel level) {
  return std::make_unique<DecodingCpu>(std::move(options), members, level);
}

}  // namespace echoform
