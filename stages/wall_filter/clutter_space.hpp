// The directions of slow time with most of a frame's power, as an SVD of its samples finds them.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace echoform {

/// Eigenvectors of a Hermitian matrix, by Jacobi's method with complex rotations (G. H. Golub, C. F. Van Loan, Matrix
/// Computations, 4th ed., 8.5). All memory is allocated once.
class HermitianVectors {
 public:
  using Complex = std::complex<double>;

  explicit HermitianVectors(std::size_t size);

  /// Memory for the matrix, [row][column]; find() overwrites it.
  [[nodiscard]] std::span<Complex> matrix() { return matrix_; }
  /// Places of the eigenvalues in descending order; each names a column of vectors(). For a matrix that is not finite the
  /// vectors are the unit vectors.
  [[nodiscard]] std::span<const std::size_t> find() noexcept;
  /// The eigenvectors, [row][column]; each column has unit length.
  [[nodiscard]] std::span<const Complex> vectors() const { return vectors_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_of(size_); }
  [[nodiscard]] static std::size_t bytes_of(std::size_t size) {
    return 2 * size * size * sizeof(Complex) + size * sizeof(std::size_t);
  }

 private:
  /// Rotates columns p and q so that the entry that couples them becomes 0.
  void rotate(std::size_t p, std::size_t q) noexcept;
  /// The sum of the squares of off-diagonal entries over the sum of all squares.
  [[nodiscard]] double beside_diagonal() const noexcept;

  std::size_t size_;
  std::vector<Complex> matrix_;
  std::vector<Complex> vectors_;
  std::vector<std::size_t> order_;
};

}  // namespace echoform
