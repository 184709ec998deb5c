#include "jobs/vector_math.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace echoform {
namespace {

std::size_t blocks_of(std::size_t count, std::size_t items) {
  return (count + items - 1) / items;
}

}  // namespace

void VectorMath::for_blocks(std::size_t count, Body body, std::size_t items) {
  team_->for_each(blocks_of(count, items), 1, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
    for (std::size_t b = first; b < last; ++b) body(b * items, std::min(count, (b + 1) * items));
  });
}

double VectorMath::sum(std::size_t count, Sum body, std::size_t items) {
  std::vector<double> parts(blocks_of(count, items));
  for_blocks(
      count, [&](std::size_t first, std::size_t last) { parts[first / items] = body(first, last); }, items);
  double total = 0.0;
  for (const double part : parts) total += part;
  return total;
}

double VectorMath::dot(std::span<const float> a, std::span<const float> b) {
  return sum(a.size(), [&](std::size_t first, std::size_t last) {
    // The sums run in this many lanes, which compilers keep in registers; where they end does not depend on the machine.
    constexpr std::size_t lanes = 8;
    std::array<double, lanes> sums{};
    std::size_t k = first;
    for (; k + lanes <= last; k += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane)
        sums[lane] += static_cast<double>(a[k + lane]) * static_cast<double>(b[k + lane]);
    }
    for (; k < last; ++k) sums[0] += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    double total = 0.0;
    for (const double part : sums) total += part;
    return total;
  });
}

void VectorMath::add(std::span<float> to, double scale, std::span<const float> values) {
  for_blocks(to.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k)
      to[k] = static_cast<float>(static_cast<double>(to[k]) + scale * static_cast<double>(values[k]));
  });
}

void VectorMath::scale_and_add(std::span<float> to, double scale, std::span<const float> values) {
  for_blocks(to.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k)
      to[k] = static_cast<float>(static_cast<double>(values[k]) + scale * static_cast<double>(to[k]));
  });
}

void VectorMath::combine(std::span<float> to, double a, std::span<const float> x, double b, std::span<const float> y) {
  for_blocks(to.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k)
      to[k] = static_cast<float>(a * static_cast<double>(x[k]) + b * static_cast<double>(y[k]));
  });
}

void VectorMath::scale(std::span<float> to, double scale) {
  for_blocks(to.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) to[k] = static_cast<float>(scale * static_cast<double>(to[k]));
  });
}

}  // namespace echoform
