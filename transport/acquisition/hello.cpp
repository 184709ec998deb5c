#include "transport/acquisition/hello.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
    // A length that is NaN passes here and is left to validate(), which names it.
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
      return MatrixKind::full;  // of what its events are received by
    default:
      throw InputError("Hello matrix", fmt::format("{}", static_cast<int>(kind)),
                       "1 (FULL), 2 (HALF), 3 (HALF_SUMMED) or 4 (EVENTS)");
  }
}

TransmitEvent read_event(const wire::TransmitEvent& message, int place) {
  TransmitEvent event;
  switch (message.form_case()) {
    case wire::TransmitEvent::kElement:
      event.form = ElementEvent{message.element()};
      break;
    default:
      throw InputError(fmt::format("Hello event {}", place), "none of the forms that this server knows", "an element");
  }
  event.receivers.assign(message.receivers().begin(), message.receivers().end());
  return event;
}

/// Those of a Hello whose probe has `elements`. What each states is left to validate().
std::vector<TransmitEvent> read_events(const wire::Hello& hello, std::size_t elements) {
  const auto count = static_cast<std::size_t>(hello.events_size());
  if (hello.matrix() != wire::EVENTS) {
    if (count == 0) return {};
    throw InputError("Hello events", fmt::format("{} with matrix {}", count, static_cast<int>(hello.matrix())),
                     "none, or matrix 4 (EVENTS)");
  }
  if (count == 0 || count > elements) {
    throw InputError("Hello events", fmt::format("{} with matrix 4 (EVENTS)", count),
                     fmt::format("1 to {}, the number of elements", elements));
  }
  std::vector<TransmitEvent> events;
  for (int i = 0; i < hello.events_size(); ++i) events.push_back(read_event(hello.events(i), i));
  return events;
}

void write_event(const TransmitEvent& event, wire::TransmitEvent& message) {
  message.set_element(std::get<ElementEvent>(event.form).element);
  for (const std::uint32_t receiver : event.receivers) message.add_receivers(receiver);
}

SampleEncoding read_encoding(wire::SampleEncoding encoding) {
  switch (encoding) {
    case wire::INT16:
      return SampleEncoding::int16;
    case wire::PACKED12:
      return SampleEncoding::packed12;
    case wire::FLOAT32:
      return SampleEncoding::float32;
    default:
      throw InputError("Hello encoding", fmt::format("{}", static_cast<int>(encoding)), "1 (INT16), 2 (PACKED12) or 3 (FLOAT32)");
  }
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

wire::SampleEncoding to_wire(SampleEncoding encoding) {
  switch (encoding) {
    case SampleEncoding::int16:
      return wire::INT16;
    case SampleEncoding::packed12:
      return wire::PACKED12;
    case SampleEncoding::float32:
      return wire::FLOAT32;
  }
  return wire::SAMPLE_ENCODING_UNSPECIFIED;
}

template <class Get>
void put_unless_default(const Probe& probe, double otherwise, Values& values, Get get) {
  if (std::ranges::all_of(probe.elements, [&](const Element& element) { return get(element) == otherwise; })) return;
  for (const Element& element : probe.elements) values.Add(get(element));
}

}  // namespace

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
  acquisition.events = read_events(hello, acquisition.elements());
  acquisition.samples = hello.samples();
  acquisition.sample_rate = Hertz(hello.sample_rate());
  acquisition.start_time = Seconds(hello.start_time());
  acquisition.time_offset = Seconds(hello.time_offset());
  acquisition.sample_scale = hello.sample_scale() == 0.0 ? 1.0 : hello.sample_scale();
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
  hello.set_matrix(acquisition.events.empty() ? to_wire(acquisition.matrix) : wire::EVENTS);
  for (const TransmitEvent& event : acquisition.events) write_event(event, *hello.add_events());
  hello.set_encoding(to_wire(acquisition.encoding));
  hello.set_samples(static_cast<std::uint32_t>(acquisition.samples));
  hello.set_sample_rate(acquisition.sample_rate.value);
  hello.set_start_time(acquisition.start_time.value);
  hello.set_time_offset(acquisition.time_offset.value);
  hello.set_sample_scale(acquisition.sample_scale);
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
