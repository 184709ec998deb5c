// Paths over one surface of any shape.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "rays/crossing_math.hpp"
#include "rays/near_turns.hpp"
#include "rays/ray_fields.hpp"

namespace echoform::rays {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// What lies within it, ends included.
struct Box {
  Vector2 low{1e300, 1e300};
  Vector2 high{-1e300, -1e300};

  void hold(Vector2 place) {
    low = {std::min(low.x, place.x), std::min(low.z, place.z)};
    high = {std::max(high.x, place.x), std::max(high.z, place.z)};
  }
  void widen(double by) {
    low = low - Vector2{by, by};
    high = high + Vector2{by, by};
  }
  [[nodiscard]] bool meets(const Box& other) const {
    return low.x <= other.high.x && high.x >= other.low.x && low.z <= other.high.z && high.z >= other.low.z;
  }
};

/// Box of the part of a straight way that lies at the depths of `within`, and 1 nm more against rounding. Most ways are there for
/// a short part only.
Box box_of_way(Vector2 from, Vector2 along, const Box& within) {
  double begin = 0.0;
  double end = 1.0;
  if (std::abs(along.z) > 1e-9) {
    const double low = (within.low.z - from.z) / along.z;
    const double high = (within.high.z - from.z) / along.z;
    begin = std::max(begin, std::min(low, high));
    end = std::min(end, std::max(low, high));
  }
  Box box;
  if (begin > end) return box;
  box.hold(from + begin * along);
  box.hold(from + end * along);
  box.widen(1e-9);
  return box;
}

/// A surface's nodes in arrays, as the searches want them.
struct NodeTable {
  explicit NodeTable(const Surface& surface) {
    const auto& nodes = surface.nodes();
    words = (nodes.size() + 63) / 64;
    for (auto* row : {&x, &z, &tangent_x, &tangent_z}) row->resize(64 * words);
    joined.resize(words);
    pieces.resize(nodes.size());
    middle = 0.5 * (nodes.front().at + nodes.back().at);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const Vector2 tangent = nodes[n].tangent;
      places.push_back(nodes[n].at);
      tangents.push_back(tangent);
      tangent_x[n] = static_cast<float>(tangent.x);
      tangent_z[n] = static_cast<float>(tangent.z);
      if (n + 1 == nodes.size() || nodes[n + 1].place.segment != nodes[n].place.segment) continue;
      joined[n / 64] |= std::uint64_t{1} << (n % 64);
      pieces[n] = surface.piece(n);
      sag = std::max(sag, surface.sag(n));
    }
    center(middle, x, z);
    boxes.resize(words);
    for (std::size_t n = 0; n < places.size(); ++n) {
      boxes[n / 64].hold(places[n]);
      if (n % 64 == 0 && n > 0) boxes[n / 64 - 1].hold(places[n]);
    }
    reach = length(nodes.front().at - middle);
    for (const Vector2 place : places) reach = std::max(reach, length(place - middle));
    for (Box& part : boxes) {
      part.widen(sag);
      box.hold(part.low);
      box.hold(part.high);
    }
  }

  /// Places relative to `origin`, which keeps those near to it exact in single precision. Padding lies at the last node.
  void center(Vector2 origin, std::vector<float>& to_x, std::vector<float>& to_z) const {
    for (std::size_t n = 0; n < 64 * words; ++n) {
      const Vector2 place = places[std::min(n, places.size() - 1)] - origin;
      to_x[n] = static_cast<float>(place.x);
      to_z[n] = static_cast<float>(place.z);
    }
  }

  [[nodiscard]] NodeRow row(const std::vector<float>& with_x, const std::vector<float>& with_z) const {
    return {with_x.data(), with_z.data(), tangent_x.data(), tangent_z.data(), words};
  }

  std::size_t words = 0;
  Vector2 middle;
  Box box;
  std::vector<Box> boxes;  // of the pieces that begin in a word
  double sag = 0.0;        // of any piece, m
  double reach = 0.0;      // of nodes from `middle`, m
  std::vector<Vector2> places;
  std::vector<Vector2> tangents;      // of length 1
  std::vector<CurvePiece> pieces;     // from a node to the next one
  std::vector<std::uint64_t> joined;  // bit n: a piece leads from node n to the next
  std::vector<float> x, z;            // relative to `middle`
  std::vector<float> tangent_x, tangent_z;
};

class CurveField final : public RayField {
 public:
  CurveField(const RayPath& path, const std::vector<Point>& sources, const FieldKernels& kernels)
      : path_(path),
        surface_(*path_.interfaces.front().surface),
        sources_(sources),
        kernels_(kernels),
        nodes_(surface_),
        before_(1.0 / path.velocities[0].value),
        after_(1.0 / path.velocities[1].value),
        slopes_(sources.size() * 64 * nodes_.words, 1.0F) {
    constexpr double touches = 1e-7;  // m
    for (const Point& source : sources) {
      const SurfaceFoot foot = surface_.foot(in_plane(source));
      const bool on_it = std::abs(foot.distance) < touches;
      beginnings_.push_back(on_it ? foot.at : in_plane(source));
      touching_ = touching_ || on_it;
      touches_.push_back(on_it ? 1 : 0);
    }
    const double most = std::max(before_, after_);
    for (std::size_t source = 0; source < sources.size(); ++source) {
      const Vector2 from = in_plane(sources[source]);
      for (std::size_t n = 0; n < nodes_.places.size(); ++n) {
        const Vector2 way = nodes_.places[n] - from;
        slopes_[source * 64 * nodes_.words + n] =
            static_cast<float>(node_slope(before_ / most, nodes_.tangents[n].x, nodes_.tangents[n].z, way.x, way.z));
      }
    }
    after_slope_ = static_cast<float>(after_ / most);
  }

  [[nodiscard]] std::optional<FieldForm> form() const override {
    if (surface_.shadows() || touching_) return std::nullopt;
    CurveForm form;
    // Of the two nodes of a smooth joint one will do. Their places are one but for rounding.
    constexpr double same = 1e-12;  // m
    std::vector<std::size_t> kept;
    const std::size_t count = nodes_.places.size();
    const auto joined = [&](std::size_t n) { return (nodes_.joined[n / 64] >> (n % 64) & 1U) != 0; };
    for (std::size_t n = 0; n < count; ++n) {
      if (n + 1 < count && !joined(n) && length(nodes_.places[n] - nodes_.places[n + 1]) < same &&
          nodes_.tangents[n] == nodes_.tangents[n + 1])
        continue;
      kept.push_back(n);
      form.nodes.push_back({nodes_.places[n], nodes_.tangent_x[n], nodes_.tangent_z[n], joined(n) ? 1U : 0U});
      form.pieces.push_back(nodes_.pieces[n]);
      form.reaches.push_back(joined(n) ? surface_.segment_on_piece(n) : PieceReach{});
    }
    for (std::size_t source = 0; source < sources_.size(); ++source) {
      for (const std::size_t n : kept) form.slopes.push_back(slopes_[source * 64 * nodes_.words + n]);
      form.sources.push_back(in_plane(sources_[source]));
      form.across.push_back(sources_[source].y.value);
    }
    form.point_slowness = after_slope_;
    form.before = before_;
    form.after = after_;
    form.sides = sides();
    return FieldForm{std::nullopt, std::move(form)};
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "curve"; }
  [[nodiscard]] const RayPath& path() const noexcept override { return path_; }
  [[nodiscard]] const std::vector<Point>& sources() const noexcept override { return sources_; }
  [[nodiscard]] Portion portion() const noexcept override { return {sources_.size(), 256}; }

  void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const override {
    search(first, last, points, seconds, {});
  }

  void trace(std::size_t first, std::size_t last, std::span<const Point> points, std::span<RayTrace> traces) const override {
    std::vector<double> seconds(traces.size());
    search(first, last, points, seconds, traces);
    for (std::size_t ray = 0; ray < traces.size(); ++ray) traces[ray].seconds = seconds[ray];
  }

 private:
  /// Traces' times are left to the caller. No traces: times alone.
  void search(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds,
              std::span<RayTrace> traces) const {
    std::fill(seconds.begin(), seconds.end(), none);
    Search search(*this, points, seconds, traces, first);
    for (std::size_t point = 0; point < points.size(); point += scanned_points) {
      search.take_points(point, std::min(points.size(), point + scanned_points));
      for (std::size_t source = first; source < last; ++source) search.scan(source);
    }
    search.finish();
    search.ask_solver();
  }

  static Vector2 in_plane(const Point& point) { return {point.x.value, point.z.value}; }

  [[nodiscard]] CrossingSides sides() const {
    const RayInterface& interface = path_.interfaces.front();
    const double source = interface.from_below ? 1.0 : -1.0;
    return {source, interface.reflects ? source : -source};
  }

  /// One call of times().
  class Search {
   public:
    Search(const CurveField& field, std::span<const Point> points, std::span<double> seconds, std::span<RayTrace> traces,
           std::size_t first_source)
        : field_(field),
          points_(points),
          seconds_(seconds),
          traces_(traces),
          ways_(traces.size()),
          first_source_(first_source),
          x_(64 * words()),
          z_(64 * words()),
          rows_(scanned_points * 64 * words()),
          negative_(scanned_points * words()),
          batch_(std::make_unique<CrossingBatch>()),
          unsure_(traces.empty() ? seconds.size() : 0) {
      const CrossingSides sides = field.sides();
      batch_->before = field.before_;
      batch_->after = field.after_;
      batch_->source_side = sides.source;
      batch_->point_side = sides.point;
    }

    void take_points(std::size_t first, std::size_t last) {
      first_ = first;
      last_ = last;
      const Vector2 origin = in_plane(points_[first]);
      field_.nodes_.center(origin, x_, z_);
      for (std::size_t point = first; point < last; ++point) {
        const Vector2 at = in_plane(points_[point]) - origin;
        field_.kernels_.node_slopes(field_.nodes_.row(x_, z_), field_.after_slope_, static_cast<float>(at.x),
                                    static_cast<float>(at.z), rows_.data() + (point - first) * 64 * words());
        find_near(point);
      }
    }

    void scan(std::size_t source) {
      const std::size_t count = words();
      const std::uint64_t* const joined = field_.nodes_.joined.data();
      const float* const slopes = field_.slopes_.data() + source * 64 * count;
      field_.kernels_.scan(slopes, rows_.data(), count, negative_.data());
      for (std::size_t point = first_; point < last_; ++point) {
        const std::uint64_t* const negative = negative_.data() + (point - first_) * count;
        if (!traces_.empty()) find_ways(source, point, negative);
        std::uint64_t here = negative[0];
        for (std::size_t word = 0; word < count; ++word) {
          const std::uint64_t after = word + 1 < count ? negative[word + 1] : 0;
          std::uint64_t turns = here & ~((here >> 1U) | (after << 63U)) & joined[word];
          here = after;
          for (; turns != 0; turns &= turns - 1) {
            const std::size_t node = 64 * word + static_cast<std::size_t>(std::countr_zero(turns));
            add_turn(source, point, slopes, node);
          }
        }
        if (!near_[point - first_].empty()) add_near(source, point);
      }
    }

    void finish() {
      if (across_) {
        field_.kernels_.across(*batch_);
        check_across();
      } else {
        (field_.touching_ ? field_.kernels_.touching_crossings : field_.kernels_.crossings)(*batch_);
      }
      for (std::size_t k = 0; k < batch_->count; ++k) {
        double& least = seconds_[ray_[k]];
        const double time = batch_->seconds[k];
        if (!(std::isnan(least) ? time > 0.0 : time < least)) continue;
        if (field_.surface_.shadows() && in_shadow(k)) continue;
        least = time;
        if (!traces_.empty()) trace_ray(k);
      }
      batch_->count = 0;
    }

    /// Rays out of the plane of which Newton's method alone does not tell.
    void ask_solver() {
      for (std::size_t row = 0; row < unsure_.size(); row += points_.size()) {
        std::unique_ptr<RaySolver> solver;
        for (std::size_t k = 0; k < points_.size(); ++k) {
          if (unsure_[row + k] == 0) continue;
          if (solver == nullptr)
            solver = std::make_unique<RaySolver>(field_.path_, field_.sources_[first_source_ + row / points_.size()]);
          const double time = solver->time_to(points_[k]);
          double& least = seconds_[row + k];
          if (!(least <= time)) least = std::isnan(time) ? least : time;
        }
      }
    }

   private:
    [[nodiscard]] std::size_t words() const { return field_.nodes_.words; }

    /// The two quickest ways of a ray, by the nodes at which they begin, at least: from a node on, time falls by its slope at
    /// most.
    struct Ways {
      double least = std::numeric_limits<double>::infinity();
      double next = std::numeric_limits<double>::infinity();
      std::size_t node = 0;  // of the least
    };

    /// At turns of the time from falling to rising, those at corners and ends too. Beyond the last node it rises.
    void find_ways(std::size_t source, std::size_t point, const std::uint64_t* negative) {
      Ways& ways = ways_[(source - first_source_) * points_.size() + point];
      const Vector2 from = in_plane(field_.sources_[source]);
      const Vector2 to = in_plane(points_[point]);
      const auto& places = field_.nodes_.places;
      const auto time = [&](std::size_t node) {
        return field_.before_ * length(places[node] - from) + field_.after_ * length(to - places[node]);
      };
      const auto add_way = [&](std::size_t node, double least) {
        if (least < ways.least) {
          ways = {least, ways.least, node};
        } else {
          ways.next = std::min(ways.next, least);
        }
      };
      if ((negative[0] & 1U) == 0) add_way(places.size(), time(0));
      for (std::size_t word = 0; word < words(); ++word) {
        const std::uint64_t next = word + 1 < words() ? negative[word + 1] << 63U : 0;
        for (std::uint64_t turns = negative[word] & ~((negative[word] >> 1U) | next); turns != 0; turns &= turns - 1) {
          const std::size_t node = 64 * word + static_cast<std::size_t>(std::countr_zero(turns));
          double falls = 0.0;
          if ((field_.nodes_.joined[word] >> (node % 64) & 1U) != 0) {
            const float* slopes = field_.slopes_.data() + source * 64 * words();
            const float* row = rows_.data() + (point - first_) * 64 * words();
            falls = std::max(field_.before_, field_.after_) * static_cast<double>(-(slopes[node] + row[node])) *
                    length(places[node + 1] - places[node]);
          }
          add_way(node, time(node) - falls);
        }
      }
    }

    void trace_ray(std::size_t k) {
      const Ways& ways = ways_[ray_[k]];
      RayTrace& trace = traces_[ray_[k]];
      trace.crossings[0] = crossing(k);
      trace.lead = (ways.node == node_[k] ? ways.next : ways.least) - batch_->seconds[k];
    }

    [[nodiscard]] RayCrossing crossing(std::size_t k) const {
      const Vector2 at{batch_->found_x[k], batch_->found_z[k]};
      const SurfaceNode& from = field_.surface_.nodes()[node_[k]];
      const SurfaceNode& to = field_.surface_.nodes()[node_[k] + 1];
      const Vector2 chord = to.at - from.at;
      const double part = std::clamp(dot(at - from.at, chord) / std::max(dot(chord, chord), 1e-300), 0.0, 1.0);
      return {at, from.place.segment + from.place.t + part * (to.place.t - from.place.t)};
    }

    /// Pieces so near to a point that the slope may turn on them unseen by the nodes.
    void find_near(std::size_t point) {
      std::vector<std::size_t>& near = near_[point - first_];
      near.clear();
      const Surface& surface = field_.surface_;
      if (!surface.shadows()) return;
      const NodeTable& nodes = field_.nodes_;
      const Vector2 at = in_plane(points_[point]);
      const double reach = near_piece * surface.longest_chord();
      for (std::size_t word = 0; word < words(); ++word) {
        Box around;
        around.hold(at);
        around.widen(reach);
        if (!around.meets(nodes.boxes[word])) continue;
        const std::size_t end = std::min(nodes.places.size() - 1, 64 * (word + 1));
        for (std::size_t node = 64 * word; node < end; ++node) {
          const bool joined = (nodes.joined[word] >> (node % 64) & 1U) != 0;
          if (joined && lies_near(at, nodes.places[node], nodes.places[node + 1])) near.push_back(node);
        }
      }
    }

    [[gnu::noinline]] void add_near(std::size_t source, std::size_t point) {
      for (const std::size_t node : near_[point - first_]) add_near(source, point, node);
    }
    void add_near(std::size_t source, std::size_t point, std::size_t node) {
      const CrossingEnds ends{in_plane(field_.sources_[source]), in_plane(points_[point]), field_.before_, field_.after_};
      const CurvePiece& piece = field_.nodes_.pieces[node];
      const NearTurns turns = near_turns(piece, ends);
      for (std::size_t k = 0; k < turns.count; ++k) {
        const double middle = 0.5 * (turns.low[k] + turns.high[k]);
        const FoundCrossing found =
            find_crossing_between(piece, ends, field_.sides(), turns.low[k], turns.high[k], middle, most_crossing_steps);
        add(source, point, node, found.t);
      }
    }

    /// The slope turns between `node` and the next. Near pieces are looked at more closely.
    [[gnu::noinline]] void add_turn(std::size_t source, std::size_t point, const float* slopes, std::size_t node) {
      const std::vector<std::size_t>& near = near_[point - first_];
      if (std::find(near.begin(), near.end(), node) != near.end()) return;
      const float* row = rows_.data() + (point - first_) * 64 * words();
      const float low = slopes[node] + row[node];
      const float high = slopes[node + 1] + row[node + 1];
      add(source, point, node, static_cast<double>(low / (low - high)));
    }

    [[gnu::always_inline]] inline void add(std::size_t source, std::size_t point, std::size_t node, double start) {
      const double across = traces_.empty() ? points_[point].y.value - field_.sources_[source].y.value : 0.0;
      if ((across != 0.0) != across_) {
        finish();
        across_ = across != 0.0;
      }
      CrossingBatch& batch = *batch_;
      const std::size_t k = batch.count;
      const CurvePiece& piece = field_.nodes_.pieces[node];
      batch.at_x[k] = piece.at.x;
      batch.at_z[k] = piece.at.z;
      batch.b_x[k] = piece.b.x;
      batch.b_z[k] = piece.b.z;
      batch.c_x[k] = piece.c.x;
      batch.c_z[k] = piece.c.z;
      batch.d_x[k] = piece.d.x;
      batch.d_z[k] = piece.d.z;
      batch.q[k] = piece.q;
      const Vector2 from = in_plane(field_.sources_[source]);
      batch.source_x[k] = from.x;
      batch.source_z[k] = from.z;
      const Vector2 to = in_plane(points_[point]);
      batch.point_x[k] = to.x;
      batch.point_z[k] = to.z;
      batch.start[k] = start;
      batch.across[k] = across;
      node_[k] = node;
      ray_[k] = (source - first_source_) * points_.size() + point;
      if (++batch.count == CrossingBatch::capacity) finish();
    }

    /// A ray counts if its place keeps to the segment on which it began, unless two of one source and point came to one place:
    /// then one was lost. Where a source lies on the surface the time has no second derivative.
    void check_across() {
      constexpr double same = 1e-6;  // m
      for (std::size_t k = 0; k < batch_->count; ++k) {
        const std::size_t ray = ray_[k];
        if (ray != told_ray_) told_.clear();
        told_ray_ = ray;
        const Vector2 at{batch_->found_x[k], batch_->found_z[k]};
        const bool twice = std::any_of(told_.begin(), told_.end(), [&](Vector2 other) { return length(at - other) < same; });
        told_.push_back(at);
        const bool touches = field_.touches_[first_source_ + ray / points_.size()] != 0;
        if (!(batch_->seconds[k] > 0.0) || !keeps_to_segment(k)) batch_->seconds[k] = none;
        if (std::isnan(batch_->seconds[k]) || touches || twice) unsure_[ray] = 1;
      }
    }

    /// Finds the piece on which a place lies as well, if it does on one of its segment.
    [[nodiscard]] bool keeps_to_segment(std::size_t k) {
      const double t = batch_->found_t[k];
      own_[k] = node_[k];
      if (t >= 0.0 && t <= 1.0) return true;
      const SurfacePlace place = field_.surface_.place_on_piece(node_[k], t);
      if (!(place.t >= 0.0 && place.t <= 1.0)) return false;
      const auto& nodes = field_.surface_.nodes();
      std::size_t node = node_[k];
      while (nodes[node].place.t > place.t) --node;
      while (nodes[node + 1].place.t < place.t) ++node;
      own_[k] = node;
      return true;
    }

    [[nodiscard, gnu::noinline]] bool in_shadow(std::size_t k) const {
      const Vector2 from = field_.beginnings_[first_source_ + ray_[k] / points_.size()];
      const Vector2 to{batch_->point_x[k], batch_->point_z[k]};
      const Vector2 at{batch_->found_x[k], batch_->found_z[k]};
      const std::size_t own = across_ ? own_[k] : node_[k];
      if (!comes_near(from, at, own) && !comes_near(to, at, own)) return false;
      // Whether there is a shadow is a matter of the place itself; the time is not.
      const CurvePiece& piece = field_.nodes_.pieces[node_[k]];
      const Vector2 source{batch_->source_x[k], batch_->source_z[k]};
      const double found = batch_->found_t[k];
      const double t = across_ ? found : place_crossing(piece, {source, to, field_.before_, field_.after_}, found);
      const Vector2 there = point_of(piece, t).at;
      const SurfacePlace place = field_.surface_.place_on_piece(node_[k], across_ ? t : std::clamp(t, 0.0, 1.0));
      return field_.surface_.crosses(from, there, nullptr, &place) || field_.surface_.crosses(to, there, nullptr, &place);
    }

    /// Whether Surface::crosses is to be asked about the way to a found place on piece `own`: unless all pieces that lie where
    /// the way does lie clearly to one side of it, and the way rises from its own more steeply than that bends.
    [[nodiscard]] bool comes_near(Vector2 from, Vector2 at, std::size_t own) const {
      const NodeTable& nodes = field_.nodes_;
      const Vector2 along = at - from;
      if (field_.surface_.meets_once(along)) return false;
      const double far = length(along);
      const double rises = std::abs(cross(along, nodes.places[own + 1] - nodes.places[own]));
      if (!(rises > steepest_over_sag * far * field_.surface_.sag(own))) return true;
      const Box way = box_of_way(from, along, nodes.box);
      const Vector2 begin = from - nodes.middle;
      // Single precision rounds places to 6e-8 of how far they lie from the middle, and products likewise; found places lack less
      // than 1e-6 of the shorter leg, squared in what Newton's last step was.
      const auto margin = static_cast<float>(far * (nodes.sag + 5e-7 * (length(begin) + nodes.reach) + 1e-5 * far));
      for (std::size_t word = 0; word < words(); ++word) {
        if (!way.meets(nodes.boxes[word])) continue;
        std::uint64_t near =
            field_.kernels_.parted(nodes.row(nodes.x, nodes.z), word, static_cast<float>(begin.x), static_cast<float>(begin.z),
                                   static_cast<float>(along.x), static_cast<float>(along.z), margin) &
            nodes.joined[word];
        if (own / 64 == word) near &= ~(std::uint64_t{1} << (own % 64));
        for (; near != 0; near &= near - 1) {
          // A line through the piece need not be the way.
          const std::size_t node = 64 * word + static_cast<std::size_t>(std::countr_zero(near));
          const double a = dot(nodes.places[node] - from, along);
          const double b = dot(nodes.places[node + 1] - from, along);
          const double slack = 2.0 * static_cast<double>(margin);
          if (std::max(a, b) > -slack && std::min(a, b) < far * far + slack) return true;
        }
      }
      return false;
    }

    const CurveField& field_;
    std::span<const Point> points_;
    std::span<double> seconds_;
    std::span<RayTrace> traces_;
    std::vector<Ways> ways_;  // by place in traces_
    std::size_t first_source_;
    std::size_t first_ = 0;
    std::size_t last_ = 0;
    std::vector<float> x_;
    std::vector<float> z_;
    std::vector<float> rows_;
    std::vector<std::uint64_t> negative_;
    std::array<std::vector<std::size_t>, scanned_points> near_;  // by point: nodes at which near pieces begin
    std::unique_ptr<CrossingBatch> batch_;
    std::array<std::size_t, CrossingBatch::capacity> node_{};  // at which the piece begins
    std::array<std::size_t, CrossingBatch::capacity> ray_{};   // place in seconds_
    // Of rays out of the plane:
    bool across_ = false;                                     // all of a batch, or none
    std::array<std::size_t, CrossingBatch::capacity> own_{};  // the node of the piece that was come to
    std::vector<std::uint8_t> unsure_;                        // by place in seconds_
    std::vector<Vector2> told_;                               // places of the rays of one source and point
    std::size_t told_ray_ = 0;
  };

  RayPath path_;
  const Surface& surface_;
  std::vector<Point> sources_;
  const FieldKernels& kernels_;
  NodeTable nodes_;
  double before_;
  double after_;
  float after_slope_ = 0.0F;
  bool touching_ = false;
  std::vector<std::uint8_t> touches_;  // by source
  std::vector<Vector2> beginnings_;    // of ways, as far as shadows go: of a source that touches its place on the surface
  std::vector<float> slopes_;          // [source, node], of the greater slowness
};

}  // namespace

std::unique_ptr<RayField> make_curve_field(const RayPath& path, const std::vector<Point>& sources, const FieldKernels& kernels) {
  if (path.interfaces.size() != 1 || path.interfaces.front().surface->is_sampled()) return nullptr;
  return std::make_unique<CurveField>(path, sources, kernels);
}

}  // namespace echoform::rays
