#include "transport/publish/image_message.hpp"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/errors.hpp"
#include "pipeline/words.hpp"
#include "transport/wire_numbers.hpp"

namespace echoform {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

// Names, geometry, timings of 16 stages and five drop counters take about 600 bytes.
constexpr std::size_t head_limit = 64 * 1024;
constexpr std::size_t head_reserve = 4096;
// Parts of a frame's processing that are timed in addition to the steps of a recipe: upload, compute, download, and parts that
// engines may add.
constexpr std::size_t parts_beside_steps = 16;
constexpr std::size_t timing_reserve = 128;  // bytes of one timing in a message

constexpr std::string_view usual_pixels = "amplitude";

constexpr std::uint32_t pixels_tag = (wire::Image::kPixelsFieldNumber << 3) | 2;  // 2: length-delimited

void put_axis(const Axis& axis, const Meaning& meaning, std::string_view usual, wire::Axis& to) {
  to.set_first(axis.first.value);
  to.set_last(axis.last.value);
  to.set_count(static_cast<std::uint32_t>(axis.count));
  // The usual name is left out.
  to.mutable_name()->assign(meaning.name == usual ? std::string_view() : meaning.name);
  if (meaning.unit == "m") {
    to.clear_unit();
  } else {
    to.mutable_unit()->assign(meaning.unit);
  }
}

void put_lines(const LineGeometry& lines, wire::LineGeometry& to) {
  to.set_apex_x(lines.apex_x.value);
  to.set_apex_z(lines.apex_z.value);
  to.set_radius(lines.radius.value);
  to.set_angle(lines.angle);
}

wire::PixelScale scale_of(ScaleKind kind) {
  switch (kind) {
    case ScaleKind::power_decibels:
      return wire::PIXEL_SCALE_POWER_DECIBELS;
    case ScaleKind::from_zero:
      return wire::PIXEL_SCALE_FROM_ZERO;
    case ScaleKind::symmetric:
      return wire::PIXEL_SCALE_SYMMETRIC;
    case ScaleKind::decibels:
      break;
  }
  return wire::PIXEL_SCALE_DECIBELS;
}

std::optional<std::string> check_axis(const wire::Axis& axis, std::string_view name) {
  if (axis.count() == 0) return fmt::format("axis {} has no pixels", name);
  const bool ordered = axis.count() == 1 ? axis.first() <= axis.last() : axis.first() < axis.last();
  if (!std::isfinite(axis.first()) || !std::isfinite(axis.last()) || !ordered) {
    return fmt::format("axis {} runs from {} to {}", name, axis.first(), axis.last());
  }
  return std::nullopt;
}

// True if the message is a sequence of fields with few bytes apart from the pixels. Parsing turns an empty sub-message of
// three bytes into an object of forty, so the head's size is checked before anything is built from it.
bool head_is_small(std::span<const std::byte> message) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()), static_cast<int>(message.size()));
  std::size_t pixel_bytes = 0;
  while (const std::uint32_t tag = in.ReadTag()) {
    if (tag == pixels_tag) {
      std::uint32_t length = 0;
      if (!in.ReadVarint32(&length) || length > message.size() || !in.Skip(static_cast<int>(length))) return false;
      pixel_bytes = length;  // a second one counts as head: the last wins, so only one may be large
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      return false;
    }
    if (static_cast<std::size_t>(in.CurrentPosition()) > head_limit + pixel_bytes) return false;
  }
  return in.ConsumedEntireMessage();
}

}  // namespace

std::vector<StreamDescription> describe_streams(const ImagingSetup& setup, std::string_view name, StreamChoice choice) {
  std::vector<StreamDescription> streams;
  const bool several = setup.recipe.views().size() > 1;
  for (std::size_t output = 0; output < setup.recipe.outputs.size(); ++output) {
    const OutputDescription& description = setup.recipe.outputs[output].description;
    const bool display = description.kind == OutputKind::display;
    const bool envelope = description.kind == OutputKind::envelope;
    if (!(display && choice.display) && !(envelope && choice.envelope)) continue;
    std::string stream = several ? fmt::format("{}/{}", name, description.view) : std::string(name);
    if (display) stream += ".display";
    streams.push_back({std::move(stream), output, description.view, display, description.grid, description.bytes(),
                       description.pixels, description.scale, description.x, description.y, description.z, description.limit,
                       description.lines});
  }
  return streams;
}

void validate_stream_name(std::string_view name, std::string_view where) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), allowed)) {
    throw InputError(where, fmt::format("\"{}\"", name), "1 to 64 letters, digits, '-' or '_'");
  }
}

std::string stream_prefix(std::string_view stream) {
  std::string prefix(1, '\x0A');  // field 1, length-delimited
  for (std::size_t length = stream.size();; length >>= 7) {
    if (length < 0x80) {
      prefix += static_cast<char>(length);
      break;
    }
    prefix += static_cast<char>((length & 0x7F) | 0x80);
  }
  prefix += stream;
  return prefix;
}

ImageMessageWriter::ImageMessageWriter(std::string name, StreamChoice choice) : name_(std::move(name)), choice_(choice) {
  validate_stream_name(name_, "stream name");
  if (!choice.envelope && !choice.display)
    throw InputError("published images", "neither envelope nor display", "at least one of them");
}

void ImageMessageWriter::set_setup(const ImagingSetup& setup) {
  streams_ = describe_streams(setup, name_, choice_);
  std::size_t pixels = 0;
  for (const auto& stream : streams_) pixels = std::max(pixels, stream.pixel_bytes);
  std::size_t outline_bytes = 0;
  head_.clear_outlines();
  for (const Outline& outline : setup.outlines) {
    wire::Outline& line = *head_.add_outlines();
    line.set_name(outline.name);
    line.mutable_x()->Add(outline.x.begin(), outline.x.end());
    line.mutable_z()->Add(outline.z.begin(), outline.z.end());
    outline_bytes += line.ByteSizeLong() + 8;
  }
  const std::size_t timings = setup.recipe.steps.size() + parts_beside_steps;
  capacity_ = pixels + head_reserve + outline_bytes + timings * timing_reserve;

  // Allocate now the sub-messages that later frames will need.
  for (std::size_t i = 0; i < timings; ++i) head_.add_stages()->mutable_stage()->reserve(64);
  for (std::size_t i = 0; i < drop_reason_count; ++i) head_.add_drops()->mutable_reason()->reserve(64);
  (void)head_.mutable_x();
  (void)head_.mutable_z();
  (void)head_.mutable_lines();
  for (const auto& stream : streams_) {
    head_.mutable_stream()->reserve(stream.name.size());
    head_.mutable_view()->reserve(stream.view_name.size());
    head_.mutable_pixel_name()->reserve(stream.pixels.name.size());
    head_.mutable_pixel_unit()->reserve(stream.pixels.unit.size());
    for (const auto& [axis, meaning] : {std::pair{head_.mutable_x(), &stream.x}, std::pair{head_.mutable_z(), &stream.z}}) {
      axis->mutable_name()->reserve(meaning->name.size());
      axis->mutable_unit()->reserve(meaning->unit.size());
    }
  }
}

std::size_t ImageMessageWriter::prepare(const FinishedFrame& frame, std::size_t index) {
  const FrameSlot& slot = frame.slot;
  if (index >= streams_.size() || streams_[index].output >= slot.outputs.size()) return 0;
  const StreamDescription& stream = streams_[index];
  const SlotOutput& output = slot.outputs[stream.output];
  if (!stream.display && !slot.envelope_wanted) return 0;
  if (!output.data || output.data.size() < stream.pixel_bytes) return 0;
  pixels_ = {output.data.bytes_begin(), stream.pixel_bytes};

  // Every field is set anew, except the outlines, which belong to the setup. Clear() would free the axes; clearing repeated
  // fields keeps their memory.
  head_.clear_stages();
  head_.clear_drops();
  head_.set_stream(stream.name);
  head_.set_sequence(slot.sequence);
  head_.set_view(stream.view_name);
  head_.set_acquisition_time(static_cast<std::uint64_t>(slot.acquisition_time.count()));
  head_.set_publish_time(static_cast<std::uint64_t>(frame.publish_time.count()));
  head_.set_latency(static_cast<std::uint64_t>(std::max<std::int64_t>(0, (frame.now - slot.last_byte_time).count())));
  put_axis(stream.grid.x, stream.x, "x", *head_.mutable_x());
  put_axis(stream.grid.z, stream.z, "z", *head_.mutable_z());
  if (stream.grid.y.count > 1) {
    put_axis(stream.grid.y, stream.y, "y", *head_.mutable_y());
  } else {
    head_.clear_y();
  }
  head_.set_plane_y(stream.grid.y.count > 1 ? 0.0 : stream.grid.y.first.value);
  head_.mutable_pixel_name()->assign(stream.pixels.name == usual_pixels ? std::string_view() : stream.pixels.name);
  head_.mutable_pixel_unit()->assign(stream.pixels.unit);
  head_.set_pixel_limit(stream.limit);
  if (stream.lines) {
    put_lines(*stream.lines, *head_.mutable_lines());
  } else {
    head_.clear_lines();
  }
  head_.set_pixel_scale(scale_of(stream.scale.kind));
  head_.set_pixels_masked(stream.scale.masked);
  head_.set_encoding(stream.display ? wire::DISPLAY_UINT8 : wire::ENVELOPE_FLOAT32);
  head_.set_dynamic_range_db(frame.setup.scale.dynamic_range_db);
  head_.set_gain_db(frame.setup.scale.gain_db);
  head_.set_reference(stream.scale.end > 0.0 ? stream.scale.end : static_cast<double>(output.reference));
  for (const StageTiming& timing : slot.timings) {
    auto& stage = *head_.add_stages();
    stage.mutable_stage()->assign(timing.stage);
    stage.set_nanoseconds(static_cast<std::uint64_t>(timing.duration.count()));
  }
  for (std::size_t i = 0; i < drop_reason_count; ++i) {
    if (frame.counters.frames_dropped[i] == 0) continue;
    auto& drop = *head_.add_drops();
    drop.mutable_reason()->assign(words::drop_reason.of(static_cast<DropReason>(i)));
    drop.set_frames(frame.counters.frames_dropped[i]);
  }
  head_.set_published(frame.counters.frames_published);
  head_.set_clipped_samples(slot.clipped_samples);
  head_.set_invalid_samples(slot.invalid_samples);
  if (slot.position) {
    head_.set_position(*slot.position);
  } else {
    head_.clear_position();
  }
  if (slot.scan_cells) {
    head_.set_scan_places(*slot.scan_cells);
  } else {
    head_.clear_scan_places();
  }
  head_.set_settings_revision(frame.setup.settings_revision);

  head_bytes_ = head_.ByteSizeLong();
  return head_bytes_ + CodedOutputStream::VarintSize32(pixels_tag) +
         CodedOutputStream::VarintSize32(static_cast<std::uint32_t>(pixels_.size())) + pixels_.size();
}

void ImageMessageWriter::write(std::span<std::byte> to) const {
  auto* place = reinterpret_cast<std::uint8_t*>(to.data());
  place = head_.SerializeWithCachedSizesToArray(place);
  place = CodedOutputStream::WriteVarint32ToArray(pixels_tag, place);
  place = CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(pixels_.size()), place);
  std::memcpy(place, pixels_.data(), pixels_.size());
}

ValueScale scale_of(const wire::Image& image) {
  ValueScale scale;
  switch (image.pixel_scale()) {
    case wire::PIXEL_SCALE_POWER_DECIBELS:
      scale.kind = ScaleKind::power_decibels;
      break;
    case wire::PIXEL_SCALE_FROM_ZERO:
      scale.kind = ScaleKind::from_zero;
      break;
    case wire::PIXEL_SCALE_SYMMETRIC:
      scale.kind = ScaleKind::symmetric;
      break;
    default:
      break;
  }
  scale.masked = image.pixels_masked();
  return scale;
}

Grid grid_of(const wire::Image& image) {
  const auto axis = [](const wire::Axis& of) { return Axis{Metres(of.first()), Metres(of.last()), of.count()}; };
  const Metres y(image.plane_y());
  return {axis(image.x()), axis(image.z()), image.has_y() ? axis(image.y()) : Axis{y, y, 1}};
}

AxisMeanings meanings_of(const wire::Image& image) {
  const auto meaning = [](const wire::Axis& of, const char* usual) {
    return Meaning{of.name().empty() ? usual : of.name(), of.has_unit() ? of.unit() : "m"};
  };
  return {meaning(image.x(), "x"), meaning(image.y(), "y"), meaning(image.z(), "z")};
}

std::optional<std::string> parse_image(std::span<const std::byte> message, wire::Image& image) {
  constexpr std::size_t parser_limit = (std::size_t{1} << 31) - 1;
  if (message.size() > parser_limit) return "message is longer than 2 GiB";
  const google::protobuf::LogSilencer silencer;  // malformed messages do not fill our log
  if (!head_is_small(message) || !parse_message(message, image)) {
    return "not an Image message";
  }
  if (image.stream().empty()) return "no stream name";
  if (auto fault = check_axis(image.x(), "x")) return fault;
  if (auto fault = check_axis(image.z(), "z")) return fault;
  if (image.has_y()) {
    if (auto fault = check_axis(image.y(), "y")) return fault;
  }
  if (!(image.pixel_limit() >= 0.0) || !std::isfinite(image.pixel_limit())) {
    return fmt::format("pixels are limited to {}", image.pixel_limit());
  }
  if (!wire::PixelScale_IsValid(image.pixel_scale())) {
    return fmt::format("unknown pixel scale {}", static_cast<int>(image.pixel_scale()));
  }
  if (!std::isfinite(image.reference())) return fmt::format("a reference of {}", image.reference());
  if (!std::isfinite(image.plane_y())) return fmt::format("a plane at y = {}", image.plane_y());
  std::uint64_t bytes = 0;
  switch (image.encoding()) {
    case wire::ENVELOPE_FLOAT32:
      bytes = sizeof(float);
      break;
    case wire::DISPLAY_UINT8:
      bytes = 1;
      break;
    default:
      return fmt::format("unknown pixel encoding {}", static_cast<int>(image.encoding()));
  }
  // Each count is below 2^32 and is compared before it is multiplied on, so nothing overflows.
  for (const std::uint64_t count : {std::uint64_t{image.x().count()}, std::uint64_t{image.z().count()},
                                    image.has_y() ? std::uint64_t{image.y().count()} : std::uint64_t{1}}) {
    bytes *= count;
    if (bytes > parser_limit) break;
  }
  if (bytes != image.pixels().size()) {
    return fmt::format("{} bytes of pixels where the geometry says {}", image.pixels().size(), bytes);
  }
  return std::nullopt;
}

}  // namespace echoform
