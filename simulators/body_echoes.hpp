// The echoes of one body in space: minimum times of a path out and a path back over the places of its surface.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "simulators/body_shape.hpp"
#include "simulators/echo_model.hpp"

namespace echoform {

/// A table of the paths from all elements to all places of the body. It does not change once made.
class BodyEchoes {
 public:
  struct Way {
    double time = 0.0;  ///< NaN: no way
    double factor = 0.0;
    simulated::Spot last;  ///< where the leg that arrives begins
  };
  using WayTo = std::function<Way(std::size_t element, const std::string& modes, const simulated::Spot& to)>;

  /// `clearance` is as in places_of(); `sides` are the modes of paths, which are combined in all pairs.
  BodyEchoes(const Body& body, double clearance, std::size_t elements, const std::vector<std::string>& sides, const WayTo& way);

  /// Adds the echoes of a pair of elements. They are the same where the two elements are exchanged.
  void add(std::size_t transmit, std::size_t receive, std::vector<Echo>& echoes) const;

  /// Bytes that the table of such a body takes.
  [[nodiscard]] static std::size_t bytes(const Body& body, double clearance, std::size_t elements, std::size_t sides);

 private:
  /// The paths out and back over the same places, beginning at one of them.
  struct Pair {
    const Way* out;
    const Way* back;

    [[nodiscard]] double time(std::size_t k) const { return out[k].time + back[k].time; }
  };

  [[nodiscard]] Pair pair(std::size_t side, std::size_t transmit, std::size_t side_back, std::size_t receive) const;
  void add_face(const Pair& pair, std::vector<Echo>& echoes) const;
  void add_edge(const Pair& pair, const simulated::BodyEdge& edge, std::vector<Echo>& echoes) const;

  Body body_;
  simulated::BodyPlaces places_;
  std::size_t elements_;
  std::size_t sides_;
  std::vector<Way> ways_;  // [side, element, place]
};

}  // namespace echoform
