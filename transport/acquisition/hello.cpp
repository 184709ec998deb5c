#include "transport/acquisition/hello.hpp"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "acquisition/sample_encodings.hpp"
#include "base/errors.hpp"
#include "proto/acquisition.pb.h"
#include "transport/acquisition/framing.hpp"

namespace echoform {
namespace {

using Values = google::protobuf::RepeatedField<double>;

void check_length(const Values& values, std::string_view name, std::size_t elements) {
  const auto size = static_cast<std::size_t>(values.size());
  if (size != 0 && size != elements) {
    throw InputError(fmt::format("Hello probe.{}", name), fmt::format("{} values", size),
                     fmt::format("none or one for each of the {} elements in probe.x", elements));
  }
}

Probe read_probe(const wire::Probe& message, const AcquisitionLimits& limits) {
  const auto count = static_cast<std::size_t>(message.x_size());
  if (count == 0 || count > limits.elements) {
    throw InputError("Hello probe.x", fmt::format("{} elements", count), fmt::format("1 to {}", limits.elements));
  }
  check_length(message.y(), "y", count);
  check_length(message.z(), "z", count);
  check_length(message.normal_x(), "normal_x", count);
  check_length(message.normal_y(), "normal_y", count);
  check_length(message.normal_z(), "normal_z", count);

  const auto value = [](const Values& values, std::size_t i, double otherwise) {
    return values.empty() ? otherwise : values[static_cast<int>(i)];
  };
  Probe probe;
  probe.centre_frequency = Hertz(message.centre_frequency());
  probe.bandwidth = Hertz(message.bandwidth());
  probe.elements.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Element& element = probe.elements[i];
    element.centre = {Metres(message.x(static_cast<int>(i))), Metres(value(message.y(), i, 0.0)),
                      Metres(value(message.z(), i, 0.0))};
    element.normal = {value(message.normal_x(), i, 0.0), value(message.normal_y(), i, 0.0), value(message.normal_z(), i, 1.0)};
    element.width = Metres(message.element_width());
    element.length = Metres(message.element_length());
    const double length = std::hypot(element.normal.x, element.normal.y, element.normal.z);
    // A length that is NaN passes here; validate() reports it by name.
    if (std::abs(length - 1.0) > 1e-3) {
      throw InputError(fmt::format("Hello element {}", i), fmt::format("a normal of length {}", length), "a unit vector");
    }
  }
  for (const auto index : message.dead_elements()) {
    if (index >= count) {
      throw InputError("Hello probe.dead_elements", fmt::format("{}", index), fmt::format("indices below {}", count));
    }
    probe.elements[index].dead = true;
  }
  return probe;
}

MatrixKind read_matrix(wire::MatrixKind kind) {
  switch (kind) {
    case wire::FULL:
      return MatrixKind::full;
    case wire::HALF:
      return MatrixKind::half;
    case wire::HALF_SUMMED:
      return MatrixKind::half_summed;
    case wire::EVENTS:
    case wire::POSITIONS:
      return MatrixKind::full;  // of the elements that receive its events
    default:
      throw InputError("Hello matrix", fmt::format("{}", static_cast<int>(kind)),
                       "1 (FULL), 2 (HALF), 3 (HALF_SUMMED), 4 (EVENTS) or 5 (POSITIONS)");
  }
}

template <class Value>
std::vector<Value> to_vector(const google::protobuf::RepeatedField<Value>& values) {
  return {values.begin(), values.end()};
}

template <class Wave>
std::optional<Seconds> read_delay(const Wave& wave) {
  return wave.has_delay() ? std::optional(Seconds(wave.delay())) : std::nullopt;
}

PlaneWaveEvent read_form(const wire::PlaneWave& wave) {
  return {wave.slowness_x(), wave.slowness_y(), read_delay(wave), to_vector(wave.elements()), wave.slowness_z()};
}

PointWaveEvent read_form(const wire::PointWave& wave) {
  return {{Metres(wave.x()), Metres(wave.y()), Metres(wave.z())},
          MetresPerSecond(wave.velocity()),
          read_delay(wave),
          to_vector(wave.elements())};
}

LawEvent read_form(const wire::Law& law) {
  return {to_vector(law.elements()), to_vector(law.delays()), to_vector(law.weights())};
}

/// Stores `sign` in `code` for the elements whose bits are set.
void read_bits(const std::string& bits, std::int8_t sign, std::string_view name, const std::string& place, CodeEvent& code) {
  const std::size_t elements = code.signs.size();
  const std::size_t bytes = (elements + 7) / 8;
  if (!bits.empty() && bits.size() != bytes) {
    throw InputError(fmt::format("{} code.{}", place, name), fmt::format("{} bytes", bits.size()),
                     fmt::format("none, or {}: a bit for each of the {} elements", bytes, elements));
  }
  for (std::size_t i = 0; i < 8 * bits.size(); ++i) {
    if ((static_cast<unsigned char>(bits[i / 8]) >> i % 8 & 1U) == 0) continue;
    if (i >= elements) {
      throw InputError(fmt::format("{} code.{}", place, name), fmt::format("a bit for element {}", i),
                       fmt::format("0 behind the last of {} elements", elements));
    }
    if (code.signs[i] != 0) {
      throw InputError(fmt::format("{} code", place), fmt::format("element {} both positive and negative", i),
                       "one of both, or neither");
    }
    code.signs[i] = sign;
  }
}

TransmitEvent read_event(const wire::TransmitEvent& message, std::size_t place, std::size_t elements) {
  const auto where = [&] { return fmt::format("Hello event {}", place); };
  TransmitEvent event;
  switch (message.form_case()) {
    case wire::TransmitEvent::kElement:
      event.form = ElementEvent{message.element()};
      break;
    case wire::TransmitEvent::kPlaneWave:
      event.form = read_form(message.plane_wave());
      break;
    case wire::TransmitEvent::kPointWave:
      event.form = read_form(message.point_wave());
      break;
    case wire::TransmitEvent::kLaw:
      event.form = read_form(message.law());
      break;
    case wire::TransmitEvent::kCode: {
      CodeEvent code{std::vector<std::int8_t>(elements)};
      read_bits(message.code().positive(), 1, "positive", where(), code);
      read_bits(message.code().negative(), -1, "negative", where(), code);
      event.form = std::move(code);
      break;
    }
    case wire::TransmitEvent::kPassive:
      event.form = PassiveEvent{Metres(message.passive().wavelength()), message.passive().pulse_energy()};
      break;
    case wire::TransmitEvent::FORM_NOT_SET:
      throw InputError(where(), "none of the forms that this server knows", known_event_forms());
  }
  event.receivers = to_vector(message.receivers());
  event.position = message.position();
  return event;
}

/// Events of a Hello whose probe has `elements`. validate() checks the values of each event later.
std::vector<TransmitEvent> read_events(const wire::Hello& hello, std::size_t elements, const AcquisitionLimits& limits) {
  const auto count = static_cast<std::size_t>(hello.events_size());
  const bool listed = hello.matrix() == wire::EVENTS || hello.matrix() == wire::POSITIONS;
  if (!listed) {
    if (count == 0) return {};
    throw InputError("Hello events", fmt::format("{} with matrix {}", count, static_cast<int>(hello.matrix())),
                     "none, or matrix 4 (EVENTS) or 5 (POSITIONS)");
  }
  if (count == 0 || count > limits.events) {
    throw InputError(
        "Hello events",
        fmt::format("{} with matrix {} ({})", count, static_cast<int>(hello.matrix()), wire::MatrixKind_Name(hello.matrix())),
        fmt::format("1 to {}", limits.events));
  }
  std::vector<TransmitEvent> events;
  events.reserve(count);
  for (const wire::TransmitEvent& message : hello.events()) events.push_back(read_event(message, events.size(), elements));
  return events;
}

Direction read_direction(const Values& values, const Direction& otherwise, std::size_t place, std::string_view axis) {
  if (values.empty()) return otherwise;
  if (values.size() != 3) {
    throw InputError(fmt::format("Hello position {}", place), fmt::format("{} values of {}_direction", values.size(), axis),
                     "none, or 3");
  }
  return {values[0], values[1], values[2]};
}

/// Positions of a Hello. validate() checks the values of each position later.
std::vector<Pose> read_positions(const wire::Hello& hello, const AcquisitionLimits& limits) {
  const auto count = static_cast<std::size_t>(hello.positions_size());
  if (hello.matrix() != wire::POSITIONS) {
    if (count == 0) return {};
    throw InputError("Hello positions", fmt::format("{} with matrix {}", count, static_cast<int>(hello.matrix())),
                     "none, or matrix 5 (POSITIONS)");
  }
  if (count == 0 || count > limits.positions) {
    throw InputError("Hello positions", fmt::format("{} with matrix 5 (POSITIONS)", count),
                     fmt::format("1 to {}", limits.positions));
  }
  std::vector<Pose> positions;
  positions.reserve(count);
  for (const wire::Pose& message : hello.positions()) {
    const Pose usual;
    const std::size_t place = positions.size();
    positions.push_back({{Metres(message.x()), Metres(message.y()), Metres(message.z())},
                         read_direction(message.x_direction(), usual.x, place, "x"),
                         read_direction(message.y_direction(), usual.y, place, "y")});
  }
  return positions;
}

void write_direction(const Direction& direction, const Direction& usual, Values& values) {
  if (direction == usual) return;
  for (const double value : {direction.x, direction.y, direction.z}) values.Add(value);
}

void write_position(const Pose& pose, wire::Pose& message) {
  const Pose usual;
  message.set_x(pose.origin.x.value);
  message.set_y(pose.origin.y.value);
  message.set_z(pose.origin.z.value);
  write_direction(pose.x, usual.x, *message.mutable_x_direction());
  write_direction(pose.y, usual.y, *message.mutable_y_direction());
}

/// Writes the form of an event.
struct FormWriter {
  wire::TransmitEvent& message;

  void operator()(const ElementEvent& event) const { message.set_element(event.element); }
  void operator()(const PlaneWaveEvent& event) const {
    wire::PlaneWave& wave = *message.mutable_plane_wave();
    wave.set_slowness_x(event.slowness_x);
    wave.set_slowness_y(event.slowness_y);
    wave.set_slowness_z(event.slowness_z);
    write_wave(event, wave);
  }
  void operator()(const PointWaveEvent& event) const {
    wire::PointWave& wave = *message.mutable_point_wave();
    wave.set_x(event.point.x.value);
    wave.set_y(event.point.y.value);
    wave.set_z(event.point.z.value);
    wave.set_velocity(event.velocity.value);
    write_wave(event, wave);
  }
  void operator()(const LawEvent& event) const {
    wire::Law& law = *message.mutable_law();
    law.mutable_elements()->Add(event.elements.begin(), event.elements.end());
    law.mutable_delays()->Add(event.delays.begin(), event.delays.end());
    law.mutable_weights()->Add(event.weights.begin(), event.weights.end());
  }
  void operator()(const CodeEvent& event) const {
    write_bits(event, 1, *message.mutable_code()->mutable_positive());
    write_bits(event, -1, *message.mutable_code()->mutable_negative());
  }
  void operator()(const PassiveEvent& event) const {
    wire::Passive& passive = *message.mutable_passive();
    passive.set_wavelength(event.wavelength.value);
    passive.set_pulse_energy(event.pulse_energy);
  }

 private:
  template <class Event, class Wave>
  static void write_wave(const Event& event, Wave& wave) {
    if (event.delay) wave.set_delay(event.delay->value);
    wave.mutable_elements()->Add(event.elements.begin(), event.elements.end());
  }
  /// Writes no bits where no element has the sign.
  static void write_bits(const CodeEvent& event, int sign, std::string& bits) {
    if (std::ranges::find(event.signs, sign) == event.signs.end()) return;
    bits.assign((event.signs.size() + 7) / 8, '\0');
    for (std::size_t i = 0; i < event.signs.size(); ++i) {
      if (event.signs[i] == sign) bits[i / 8] = static_cast<char>(static_cast<unsigned char>(bits[i / 8]) | 1U << i % 8);
    }
  }
};

void write_event(const TransmitEvent& event, wire::TransmitEvent& message) {
  std::visit(FormWriter{message}, event.form);
  message.mutable_receivers()->Add(event.receivers.begin(), event.receivers.end());
  message.set_position(event.position);
}

constexpr std::array<std::pair<SampleEncoding, wire::SampleEncoding>, sample_encodings.size()> encodings_on_the_wire = {{
    {SampleEncoding::int16, wire::INT16},
    {SampleEncoding::packed12, wire::PACKED12},
    {SampleEncoding::float32, wire::FLOAT32},
}};

SampleEncoding read_encoding(wire::SampleEncoding stated) {
  std::string known;
  for (const auto& [encoding, number] : encodings_on_the_wire) {
    if (number == stated) return encoding;
    const bool last = number == encodings_on_the_wire.back().second;
    known += fmt::format("{}{} ({})",
                         known.empty() ? ""
                         : last        ? " or "
                                       : ", ",
                         static_cast<int>(number), wire::SampleEncoding_Name(number));
  }
  throw InputError("Hello encoding", fmt::format("{}", static_cast<int>(stated)), known);
}

wire::MatrixKind to_wire(MatrixKind kind) {
  switch (kind) {
    case MatrixKind::full:
      return wire::FULL;
    case MatrixKind::half:
      return wire::HALF;
    case MatrixKind::half_summed:
      return wire::HALF_SUMMED;
  }
  return wire::MATRIX_KIND_UNSPECIFIED;
}

wire::SampleEncoding to_wire(SampleEncoding stored) {
  for (const auto& [encoding, number] : encodings_on_the_wire) {
    if (encoding == stored) return number;
  }
  return wire::SAMPLE_ENCODING_UNSPECIFIED;
}

/// Throws InputError for a Hello that no server reads. The error names the longest part and states what would fit.
void require_readable(const wire::Hello& hello) {
  if (const auto count = static_cast<std::size_t>(hello.events_size()); count > maximum_events)
    throw InputError("Hello events", fmt::format("{}", count), fmt::format("at most {}", maximum_events));
  if (const auto count = static_cast<std::size_t>(hello.positions_size()); count > maximum_positions)
    throw InputError("Hello positions", fmt::format("{}", count), fmt::format("at most {}", maximum_positions));
  const std::size_t bytes = hello.ByteSizeLong();
  if (bytes <= maximum_hello_bytes) return;
  std::size_t events = 0;
  for (const wire::TransmitEvent& event : hello.events()) {
    const std::size_t inside = event.ByteSizeLong();
    events += 1 + google::protobuf::io::CodedOutputStream::VarintSize64(inside) + inside;
  }
  const std::size_t probe = hello.probe().ByteSizeLong();
  const std::size_t words = hello.sender().size() + hello.token().size();
  const auto refuse = [&](std::string_view part, std::size_t of_part, const std::string& advice) {
    throw InputError(fmt::format("Hello {}", part), fmt::format("{} bytes of {} in all", of_part, bytes),
                     fmt::format("at most {} in all: {}", maximum_hello_bytes, advice));
  };
  if (words >= std::max(events, probe)) refuse("sender and token", words, "a shorter name or token");
  if (probe >= events) refuse("probe", probe, "fewer elements");
  const std::size_t others = std::min(bytes - events, maximum_hello_bytes);
  refuse("events", events,
         fmt::format("{} events like these, or fewer receivers in each (where all elements record, none need be listed)",
                     (maximum_hello_bytes - others) * static_cast<std::size_t>(hello.events_size()) / events));
}

template <class Get>
void put_unless_default(const Probe& probe, double otherwise, Values& values, Get get) {
  if (std::ranges::all_of(probe.elements, [&](const Element& element) { return get(element) == otherwise; })) return;
  for (const Element& element : probe.elements) values.Add(get(element));
}

}  // namespace

std::string known_event_forms() {
  const google::protobuf::OneofDescriptor& forms = *wire::TransmitEvent::descriptor()->FindOneofByName("form");
  std::string text;
  for (int i = 0; i < forms.field_count(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == forms.field_count() ? " or " : ", ", forms.field(i)->name());
  }
  return text;
}

HelloContents read_hello(const wire::Hello& hello, const AcquisitionLimits& limits) {
  HelloContents contents;
  SenderIdentity& identity = contents.identity;
  identity.session = hello.session();
  identity.connection_index = hello.connection_index();
  identity.connection_count = hello.connection_count() == 0 ? 1 : hello.connection_count();
  identity.sender = printable(hello.sender());
  identity.token = hello.token();
  if (identity.connection_count > maximum_connections_per_sender) {
    throw InputError("Hello connection_count", fmt::format("{}", identity.connection_count),
                     fmt::format("1 to {}", maximum_connections_per_sender));
  }
  if (identity.connection_index >= identity.connection_count) {
    throw InputError("Hello connection_index", fmt::format("{}", identity.connection_index),
                     fmt::format("below the connection_count of {}", identity.connection_count));
  }
  Acquisition& acquisition = contents.acquisition;
  acquisition.matrix = read_matrix(hello.matrix());
  acquisition.encoding = read_encoding(hello.encoding());
  acquisition.probe = read_probe(hello.probe(), limits);
  acquisition.events = read_events(hello, acquisition.elements(), limits);
  acquisition.positions = read_positions(hello, limits);
  acquisition.samples = hello.samples();
  acquisition.sample_rate = Hertz(hello.sample_rate());
  acquisition.start_time = Seconds(hello.start_time());
  acquisition.time_offset = Seconds(hello.time_offset());
  acquisition.sample_scale = hello.sample_scale() == 0.0 ? 1.0 : hello.sample_scale();
  acquisition.pulse_repetition = Hertz(hello.pulse_repetition());
  validate(acquisition, limits, "Hello");
  return contents;
}

std::string encode_hello(const SenderIdentity& identity, const Acquisition& acquisition) {
  wire::Hello hello;
  hello.set_session(identity.session);
  hello.set_connection_index(identity.connection_index);
  hello.set_connection_count(identity.connection_count);
  hello.set_sender(identity.sender);
  hello.set_token(identity.token);
  const Probe& probe = acquisition.probe;
  wire::Probe& message = *hello.mutable_probe();
  for (const Element& element : probe.elements) message.add_x(element.centre.x.value);
  put_unless_default(probe, 0.0, *message.mutable_y(), [](const Element& e) { return e.centre.y.value; });
  put_unless_default(probe, 0.0, *message.mutable_z(), [](const Element& e) { return e.centre.z.value; });
  put_unless_default(probe, 0.0, *message.mutable_normal_x(), [](const Element& e) { return e.normal.x; });
  put_unless_default(probe, 0.0, *message.mutable_normal_y(), [](const Element& e) { return e.normal.y; });
  put_unless_default(probe, 1.0, *message.mutable_normal_z(), [](const Element& e) { return e.normal.z; });
  if (!probe.elements.empty()) {
    const Element& first = probe.elements.front();
    if (std::ranges::any_of(probe.elements,
                            [&](const Element& e) { return e.width != first.width || e.length != first.length; })) {
      throw InputError("Hello probe", "elements of different sizes", "one size: the message carries one width and one length");
    }
    message.set_element_width(first.width.value);
    message.set_element_length(first.length.value);
  }
  message.set_centre_frequency(probe.centre_frequency.value);
  message.set_bandwidth(probe.bandwidth.value);
  for (std::size_t i = 0; i < probe.elements.size(); ++i) {
    if (probe.elements[i].dead) message.add_dead_elements(static_cast<std::uint32_t>(i));
  }
  hello.set_matrix(!acquisition.positions.empty() ? wire::POSITIONS
                   : acquisition.events.empty()   ? to_wire(acquisition.matrix)
                                                  : wire::EVENTS);
  for (const Pose& pose : acquisition.positions) write_position(pose, *hello.add_positions());
  for (const TransmitEvent& event : acquisition.events) write_event(event, *hello.add_events());
  hello.set_encoding(to_wire(acquisition.encoding));
  hello.set_samples(static_cast<std::uint32_t>(acquisition.samples));
  hello.set_sample_rate(acquisition.sample_rate.value);
  hello.set_start_time(acquisition.start_time.value);
  hello.set_time_offset(acquisition.time_offset.value);
  hello.set_sample_scale(acquisition.sample_scale);
  hello.set_pulse_repetition(acquisition.pulse_repetition.value);
  require_readable(hello);
  return hello.SerializeAsString();
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string result(text.substr(0, longest));
  for (char& c : result) {
    if (c < 0x20 || c > 0x7E) c = '?';
  }
  if (text.size() > longest) result += "...";
  return result;
}

bool equal_in_constant_time(std::string_view expected, std::string_view given) noexcept {
  // A read through volatile is not optimised into an early exit.
  volatile unsigned difference = expected.size() == given.size() ? 0U : 1U;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char against = expected.empty() ? '\0' : expected[i % expected.size()];
    difference = difference | static_cast<unsigned>(static_cast<unsigned char>(against) ^ static_cast<unsigned char>(given[i]));
  }
  return difference == 0;
}

}  // namespace echoform
