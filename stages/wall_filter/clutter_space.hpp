// The directions of slow time that hold most of a frame's power: what an SVD of its samples finds.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace echoform {

/// Eigenvectors of a Hermitian matrix, by Jacobi's method with complex rotations (G. H. Golub, C. F. Van Loan, Matrix
/// Computations, 4th ed., 8.5): all that it needs is allocated once.
class HermitianVectors {
 public:
  using Complex = std::complex<double>;

  explicit HermitianVectors(std::size_t size);

  /// Where the matrix goes, [row][column]; find() overwrites it.
  [[nodiscard]] std::span<Complex> matrix() { return matrix_; }
  /// Places of the eigenvalues in descending order; each names a column of vectors(). A matrix that is not finite has the unit
  /// vectors.
  [[nodiscard]] std::span<const std::size_t> find() noexcept;
  /// [row][column], of unit length each column.
  [[nodiscard]] std::span<const Complex> vectors() const { return vectors_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_of(size_); }
  [[nodiscard]] static std::size_t bytes_of(std::size_t size) {
    return 2 * size * size * sizeof(Complex) + size * sizeof(std::size_t);
  }

 private:
  /// Turns columns p and q so that what couples them is 0.
  void rotate(std::size_t p, std::size_t q) noexcept;
  /// Of the squares beside the diagonal, over all squares.
  [[nodiscard]] double beside_diagonal() const noexcept;

  std::size_t size_;
  std::vector<Complex> matrix_;
  std::vector<Complex> vectors_;
  std::vector<std::size_t> order_;
};

}  // namespace echoform
