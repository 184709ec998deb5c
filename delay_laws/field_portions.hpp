// How tables over a grid's pixels are filled from a field of rays: the pixels that there are, and pieces of work of a size at
// which the field is quickest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/grid.hpp"
#include "delay_laws/over_sources.hpp"
#include "rays/ray_field.hpp"

namespace echoform {

/// The pixels of a grid that lie in the part, in image order.
struct ImagedPixels {
  std::vector<std::size_t> place;  ///< in the image
  std::vector<Point> points;

  ImagedPixels(const Grid& grid, const PartPixels& pixels) {
    for (std::size_t k = 0; k < pixels.sides.size(); ++k) {
      if (!pixels.imaged(k)) continue;
      place.push_back(k);
      points.push_back(pixels.place(grid, k));
    }
  }
};

/// body(first source, last, part) for all portions of the field's sources and every part, on `threads` threads (0: as many as
/// processors).
template <class Body>
void over_portions(const RayField& field, std::size_t sources, std::size_t threads, std::size_t parts, const Body& body) {
  const std::size_t at_once = std::max<std::size_t>(1, field.portion().sources);
  const std::size_t groups = (sources + at_once - 1) / at_once;
  over_sources(groups * parts, threads, [&](std::size_t k) {
    const std::size_t first = k / parts * at_once;
    body(first, std::min(first + at_once, sources), k % parts);
  });
}

/// body(first source, last, first pixel, last) for all portions of the field's sources and of `pixels` pixels.
template <class Body>
void over_portions_and_pixels(const RayField& field, std::size_t sources, std::size_t threads, std::size_t pixels,
                              const Body& body) {
  const std::size_t at_once = std::max<std::size_t>(1, field.portion().points);
  over_portions(field, sources, threads, (pixels + at_once - 1) / at_once,
                [&](std::size_t first, std::size_t last, std::size_t part) {
                  const std::size_t from = part * at_once;
                  body(first, last, from, std::min(from + at_once, pixels));
                });
}

}  // namespace echoform
