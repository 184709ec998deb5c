#include "stages/decoding/decoding_matrix.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "base/errors.hpp"

namespace echoform {
namespace {

using Matrix = Eigen::MatrixXd;

std::vector<std::size_t> firing_elements(const TransmitCode& code) {
  std::vector<std::size_t> firing;
  for (std::size_t element = 0; element < code.elements; ++element) {
    bool fires = false;
    for (std::size_t event = 0; event < code.events; ++event)
      fires = fires || code.weights[event * code.elements + element] != 0.0;
    if (fires) firing.push_back(element);
  }
  return firing;
}

std::optional<SylvesterOrder> sylvester_order(const TransmitCode& code) {
  const std::size_t size = code.events;
  const std::vector<std::size_t> columns = firing_elements(code);
  if (size < 2 || !std::has_single_bit(size) || columns.size() != size) return std::nullopt;
  const auto negative = [&](std::size_t event, std::size_t column) {
    return code.weights[event * code.elements + columns[column]] < 0.0;
  };
  SylvesterOrder order{std::vector<std::uint32_t>(size, SylvesterOrder::nobody), {}};
  for (std::size_t event = 0; event < size; ++event) {
    // The columns whose numbers are powers of two spell the row's index.
    std::size_t row = 0;
    for (std::size_t bit = 1; bit < size; bit *= 2) row |= negative(event, bit) ? bit : 0;
    for (std::size_t column = 0; column < size; ++column) {
      const double wanted = std::popcount(row & column) % 2 == 0 ? 1.0 : -1.0;
      if (code.weights[event * code.elements + columns[column]] != wanted) return std::nullopt;
    }
    if (order.event_of_row[row] != SylvesterOrder::nobody) return std::nullopt;
    order.event_of_row[row] = static_cast<std::uint32_t>(event);
  }
  for (const std::size_t element : columns) {
    order.element_of_column.push_back(code.dead[element] ? SylvesterOrder::nobody : static_cast<std::uint32_t>(element));
  }
  return order;
}

/// A text such as "events 0, 2 and 5". If there are many, it names the first ones.
std::string text_of(std::string_view what, const std::vector<std::size_t>& which) {
  constexpr std::size_t shown = 8;
  const std::size_t count = std::min(which.size(), shown);
  const std::size_t more = which.size() - count;
  std::string text = fmt::format("{}{} {}", what, which.size() == 1 ? "" : "s", which.front());
  for (std::size_t k = 1; k < count; ++k) text += fmt::format("{}{}", more == 0 && k + 1 == count ? " and " : ", ", which[k]);
  if (more != 0) text += fmt::format(" and {} more", more);
  return text;
}

/// The entries that are not negligible relative to the greatest.
std::vector<std::size_t> support(const Eigen::VectorXd& vector, double least) {
  std::vector<std::size_t> found;
  const double most = vector.cwiseAbs().maxCoeff();
  for (Eigen::Index k = 0; k < vector.size(); ++k) {
    if (std::abs(vector[k]) > least * most) found.push_back(static_cast<std::size_t>(k));
  }
  return found;
}

/// Columns of `matrix` some sum of which is zero or nearly so: as few columns as one elimination finds.
std::vector<std::size_t> dependent_columns(const Matrix& matrix) {
  Eigen::FullPivLU<Matrix> elimination(matrix);
  elimination.setThreshold(1.0 / most_condition);
  if (elimination.dimensionOfKernel() == 0) {
    // No pivot shows it. Then this is the sum with the minimum size, in which all columns may take part.
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(matrix.transpose() * matrix);
    return support(solver.eigenvectors().col(0), 0.1);
  }
  const Matrix kernel = elimination.kernel();
  std::vector<std::size_t> fewest;
  for (Eigen::Index k = 0; k < kernel.cols(); ++k) {
    const std::vector<std::size_t> columns = support(kernel.col(k), 1e-3);
    if (fewest.empty() || columns.size() < fewest.size()) fewest = columns;
  }
  return fewest;
}

[[noreturn]] void refuse(const Matrix& code, const std::vector<std::size_t>& living, double condition, std::string_view where) {
  const std::string place = fmt::format("{} events", where);
  const bool singular = condition > 1e12;
  const std::string how_bad = singular ? std::string() : fmt::format(" (condition {:.2g})", condition);
  const std::string expected =
      singular ? "rows of a code that can be inverted" : fmt::format("rows of a code of a condition up to {:g}", most_condition);
  if (code.rows() > code.cols()) {
    std::vector<std::size_t> elements;
    for (const std::size_t column : dependent_columns(code)) elements.push_back(living[column]);
    throw InputError(
        place, fmt::format("{} that {}cannot be told apart{}", text_of("element", elements), singular ? "" : "nearly ", how_bad),
        expected);
  }
  const std::vector<std::size_t> events = dependent_columns(code.transpose());
  if (events.size() == 1) {
    throw InputError(
        place,
        fmt::format("{} in which {} living element fires{}", text_of("event", events), singular ? "no" : "hardly a", how_bad),
        expected);
  }
  throw InputError(place,
                   fmt::format("{} that {}depend on each other{}", text_of("event", events), singular ? "" : "nearly ", how_bad),
                   expected);
}

/// Ratio of the greatest to the smallest singular value; infinite where the latter is lost in rounding.
double condition_of(const Matrix& code) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(code.transpose() * code, Eigen::EigenvaluesOnly);
  const double least = solver.eigenvalues().minCoeff();
  const double most = solver.eigenvalues().maxCoeff();
  // Squares have an error of some 1e-16 of the greatest, for each column.
  if (!(least > 1e-15 * static_cast<double>(code.cols()) * most)) return std::numeric_limits<double>::infinity();
  return std::sqrt(most / least);
}

}  // namespace

DecodingMatrix decoding_matrix(const TransmitCode& code, std::string_view where) {
  const std::string place = fmt::format("{} events", where);
  if (code.events > most_coded_events) {
    throw InputError(place, fmt::format("{} rows of a code", code.events), fmt::format("at most {}", most_coded_events));
  }
  std::vector<std::size_t> living = firing_elements(code);
  std::erase_if(living, [&](std::size_t element) { return code.dead[element]; });
  if (living.empty()) throw InputError(place, "no living element that fires", "at least one");
  if (code.events < living.size()) {
    throw InputError(place, fmt::format("{} rows of a code", code.events),
                     fmt::format("at least {}: one for each living element that fires", living.size()));
  }
  DecodingMatrix decoding{code.events, code.elements, std::vector<double>(code.elements * code.events), sylvester_order(code)};
  if (decoding.sylvester) {
    for (const std::size_t element : living) {
      for (std::size_t event = 0; event < code.events; ++event) {
        decoding.weights[element * code.events + event] =
            code.weights[event * code.elements + element] / static_cast<double>(code.events);
      }
    }
    return decoding;
  }
  Matrix matrix(static_cast<Eigen::Index>(code.events), static_cast<Eigen::Index>(living.size()));
  for (std::size_t event = 0; event < code.events; ++event) {
    for (std::size_t k = 0; k < living.size(); ++k) {
      matrix(static_cast<Eigen::Index>(event), static_cast<Eigen::Index>(k)) = code.weights[event * code.elements + living[k]];
    }
  }
  const double condition = condition_of(matrix);
  if (!(condition <= most_condition)) refuse(matrix, living, condition, where);
  const Matrix inverse = matrix.householderQr().solve(Matrix::Identity(matrix.rows(), matrix.rows()));
  for (std::size_t k = 0; k < living.size(); ++k) {
    for (std::size_t event = 0; event < code.events; ++event) {
      decoding.weights[living[k] * code.events + event] = inverse(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(event));
    }
  }
  return decoding;
}

}  // namespace echoform
