#include "transport/openigtlink/devices.hpp"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <stdexcept>

#include "base/value_scale_words.hpp"
#include "transport/openigtlink/crc64.hpp"

namespace echoform::openigtlink {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::uint32_t pixels_tag = (wire::Image::kPixelsFieldNumber << 3) | 2;  // 2: length-delimited

struct Cut {
  std::span<const std::byte> head;  // an Image without its pixels
  std::span<const std::byte> pixels;
};

/// Splits a message where its pixels begin, so that parsing copies none of them.
Cut cut(std::span<const std::byte> message) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()), static_cast<int>(message.size()));
  for (;;) {
    const auto before = static_cast<std::size_t>(in.CurrentPosition());
    const std::uint32_t tag = in.ReadTag();
    if (tag == pixels_tag) {
      std::uint32_t length = 0;
      if (!in.ReadVarint32(&length)) break;
      const auto begin = static_cast<std::size_t>(in.CurrentPosition());
      if (begin + length != message.size()) break;
      return {message.first(before), message.subspan(begin)};
    }
    if (tag == 0 || !WireFormatLite::SkipField(&in, tag)) break;
  }
  throw std::logic_error("a message of a board that does not end in pixels");
}

/// Formats a time, for example "2026-03-14T09:26:53.589793238Z".
std::string utc(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t whole = seconds.count();
  std::tm parts{};
  gmtime_r(&whole, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec, (time - seconds).count());
}

/// The acquisition time that the sender states, or else the time at which its last byte arrived.
WallTime acquired(const wire::Image& image) {
  const std::uint64_t time = image.acquisition_time() != 0 ? image.acquisition_time() : image.publish_time() - image.latency();
  return WallTime(static_cast<WallTime::rep>(time));
}

std::optional<PixelPlaces> places_of(const StreamDescription& stream) {
  return stream.lines ? std::nullopt : pixel_places(stream.grid, stream.x, stream.y, stream.z);
}

}  // namespace

std::vector<std::string> device_names(const std::vector<std::string>& streams, std::string_view server) {
  std::vector<std::string> names;
  for (const std::string& stream : streams) {
    const std::string_view rest = std::string_view(stream).substr(std::min(server.size(), stream.size()));
    const std::size_t room = most_device_letters - std::min(most_device_letters, rest.size());
    std::string name(server.substr(0, room));
    name += rest.substr(0, most_device_letters);
    const std::string whole = name;
    for (int k = 2; std::find(names.begin(), names.end(), name) != names.end(); ++k) {
      const std::string end = fmt::format("~{}", k);
      name = whole.substr(0, most_device_letters - end.size()) + end;
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<Device> devices_of(const std::vector<StreamDescription>& streams, std::string_view server,
                               const std::vector<std::string>& views) {
  std::vector<Device> devices;
  std::vector<std::string> names;
  for (const StreamDescription& stream : streams) {
    if (!views.empty() && std::find(views.begin(), views.end(), stream.view_name) == views.end()) continue;
    const auto places = places_of(stream);
    std::optional<ImageHead> head = places ? head_of(stream.grid, *places) : std::nullopt;
    if (!head) {
      spdlog::info("OpenIGTLink: {} is not sent: {}", stream.name,
                   places ? "it has more than 65535 pixels along an axis" : "its pixels are not at places in space");
      continue;
    }
    head->real = !stream.display;
    devices.push_back({"", stream.name, *head});
    names.push_back(stream.name);
  }
  names = device_names(names, server);
  for (std::size_t k = 0; k < devices.size(); ++k) devices[k].name = std::move(names[k]);
  return devices;
}

std::span<const std::byte> pixels_of(std::span<const std::byte> message) {
  return cut(message).pixels;
}

void PreparedImage::prepare(std::uint64_t number, std::span<const std::byte> message, const ProbePlace& place) {
  number_ = 0;
  const std::span<const std::byte> fields = cut(message).head;
  if (!image_.ParseFromArray(fields.data(), static_cast<int>(fields.size()))) {
    throw std::logic_error("a message of a board that is no Image");
  }
  timestamp_ = timestamp_of(acquired(image_));
  id_ = static_cast<std::uint32_t>(image_.sequence());
  probe_ = place.at(image_.has_position() ? std::optional<EncoderCount>(image_.position()) : std::nullopt);
  const Grid grid = grid_of(image_);
  const AxisMeanings axes = meanings_of(image_);
  const auto places = pixel_places(grid, axes.x, axes.y, axes.z);
  ImageHead head = places ? head_of(grid, *places).value_or(ImageHead{}) : ImageHead{};
  head.real = image_.encoding() == wire::ENVELOPE_FLOAT32;
  head_.clear();
  put_image_head(head_, head);
  note_metadata();
  sums_ = {};
  number_ = number;
}

void PreparedImage::note_metadata() {
  const bool real = image_.encoding() == wire::ENVELOPE_FLOAT32;
  const ScaleKind scale = scale_of(image_).kind;
  // The entries are in the order of their names, as the most common library writes them.
  metadata_.clear();
  metadata_.add("Echoform.acquisition_time", utc(acquired(image_)));
  metadata_.add("Echoform.dynamic_range_db", fmt::format("{}", image_.dynamic_range_db()));
  if (image_.has_position()) metadata_.add("Echoform.encoder_count", fmt::format("{}", image_.position()));
  metadata_.add("Echoform.gain_db", fmt::format("{}", image_.gain_db()));
  metadata_.add("Echoform.latency_seconds", fmt::format("{:.6f}", 1e-9 * static_cast<double>(image_.latency())));
  metadata_.add("Echoform.pixels", !real ? "display" : image_.pixel_name().empty() ? "amplitude" : image_.pixel_name());
  metadata_.add("Echoform.pixels_masked", image_.pixels_masked() ? "true" : "false");
  metadata_.add("Echoform.quantity", image_.pixel_name().empty() ? "amplitude" : image_.pixel_name());
  metadata_.add("Echoform.reference", fmt::format("{}", image_.reference()));
  metadata_.add("Echoform.scale", words::scale_kind.of(scale));
  metadata_.add("Echoform.sequence", fmt::format("{}", image_.sequence()));
  metadata_.add("Echoform.settings_revision", fmt::format("{}", image_.settings_revision()));
  metadata_.add("Echoform.stream", image_.stream());
  metadata_.add("Echoform.unit", real || shows_numbers(scale) ? image_.pixel_unit() : "");
  metadata_.add("Echoform.view", image_.view());
}

void PreparedImage::put_head(Bytes& to, std::uint16_t version, std::string_view device, std::span<const std::byte> pixels) {
  Bytes before;
  std::size_t body = head_.size() + pixels.size();
  if (version >= latest_version) {
    put_extended_header(before, metadata_.table_bytes(), metadata_.text_bytes(), id_);
    body += extended_header_bytes + metadata_.table_bytes() + metadata_.text_bytes();
  }
  before.insert(before.end(), head_.begin(), head_.end());
  auto& sum = sums_[version - 1];
  if (!sum) {
    Bytes behind;
    put_tail(behind, version);
    sum = crc64(behind, crc64(pixels, crc64(before)));
  }
  put_header(to, {version, "IMAGE", device, timestamp_, body, *sum});
  to.insert(to.end(), before.begin(), before.end());
}

void PreparedImage::put_tail(Bytes& to, std::uint16_t version) const {
  if (version >= latest_version) metadata_.put(to);
}

}  // namespace echoform::openigtlink
