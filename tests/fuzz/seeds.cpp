// Writes the first inputs of every fuzzer's corpus from real messages and files: fuzz_seeds FOLDER.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/frame_writer.hpp"
#include "proto/image.pb.h"
#include "proto/telemetry.pb.h"
#include "tests/formats/mat73_maker.hpp"
#include "tests/formats/mat_maker.hpp"
#include "tests/formats/mfmc_maker.hpp"
#include "tests/transport_acquisition/messages.hpp"
#include "tests/transport_acquisition/whole_messages.hpp"

namespace {

using namespace echoform;
using namespace echoform::testing_support;

std::filesystem::path folder;

void put(const std::string& fuzzer, const std::string& name, std::string_view bytes) {
  std::filesystem::create_directories(folder / fuzzer);
  std::ofstream(folder / fuzzer / name, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
std::string text(const auto& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Two of four elements fire; one of them is received by two.
Acquisition sparse_acquisition() {
  Acquisition acquisition = make_acquisition(4, 5);
  acquisition.events = element_events(std::vector<std::uint32_t>{3, 0});
  acquisition.events[1].receivers = {2, 1};
  return acquisition;
}

/// By name: events of every form, those that launch waves of their own, rows of codes and passive ones.
std::vector<std::pair<std::string, Acquisition>> event_lists() {
  return {{"events", sparse_acquisition()},           {"waves", acquisition_of_waves(5)},
          {"positions", acquisition_of_positions(5)}, {"codes", acquisition_of_codes(5)},
          {"passive", acquisition_of_passive(5)},     {"turned_passive", acquisition_of_turned_passive(5)}};
}

void acquisition() {
  for (const MatrixKind matrix : {MatrixKind::full, MatrixKind::half}) {
    for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
      const Acquisition acquisition = make_acquisition(2, 5, matrix, encoding);
      const Bytes frame = random_bytes(acquisition.frame_bytes(), 1);
      Bytes bytes = hello_message(acquisition);
      for (const std::uint64_t sequence : {5U, 6U}) {
        for (const std::uint32_t transmit : {1U, 0U})
          bytes = bytes + shot_message(sequence, transmit, shot_payload(acquisition, frame, transmit));
      }
      const std::string name = fmt::format("{}_{}", static_cast<int>(matrix), static_cast<int>(encoding));
      put("acquisition_decoder", "two_frames_" + name,
          std::string("\x03\x20\x01", 3) + text(bytes + encode_message(MessageType::end, {})));
      put("acquisition_decoder", "cut_in_a_payload_" + name,
          std::string("\x01\x60\x00", 3) + text(bytes).substr(0, bytes.size() - 3));
      put("hello", name,
          encode_hello({.session = 7, .connection_index = 1, .connection_count = 2, .sender = "test", .token = "t"},
                       acquisition));
    }
  }
  for (const auto& [name, listed] : event_lists()) {
    const Bytes frame = random_bytes(listed.frame_bytes(), 1);
    Bytes sent = hello_message(listed);
    for (std::size_t event = listed.events.size(); event-- > 0;) {
      const auto transmit = static_cast<std::uint32_t>(event);
      sent = sent + shot_message(5, transmit, shot_payload(listed, frame, transmit));
    }
    put("acquisition_decoder", name, std::string("\x03\x20\x01", 3) + text(sent + encode_message(MessageType::end, {})));
    put("hello", name,
        encode_hello({.session = 7, .connection_index = 0, .connection_count = 1, .sender = "test", .token = {}}, listed));
  }
  const Acquisition acquisition = make_acquisition(3, 8);
  const Bytes hello = hello_message(acquisition);
  // Positions that are none, 0 and negative, the one that stands for none, and one of too many bits.
  Bytes placed = hello;
  for (const std::uint32_t transmit : {2U, 0U, 1U}) {
    wire::Shot shot;
    shot.set_transmit(transmit);
    if (transmit > 0) shot.set_position(transmit == 1 ? 0 : -1200);
    placed = std::move(placed) + raw_message(4, shot.SerializeAsString(), 48, random_bytes(48, 1));
  }
  put("acquisition_decoder", "positions", std::string("\x03\x20\x01", 3) + text(placed));
  wire::Shot none;
  none.set_position(no_position);
  put("acquisition_decoder", "position_that_stands_for_none",
      std::string(3, '\1') + text(placed + raw_message(4, none.SerializeAsString(), 48, random_bytes(48, 1))));
  put("acquisition_decoder", "second_hello", std::string(3, '\1') + text(hello + hello));
  put("acquisition_decoder", "shot_first", std::string(3, '\1') + text(shot_message(1, 0, random_bytes(48, 1))));
  put("acquisition_decoder", "wrong_checksum", std::string(3, '\0') + text(hello).replace(20, 4, "abcd"));
  put("acquisition_decoder", "long_payload",
      std::string(3, '\1') + text(hello + shot_message(1, 0, random_bytes(48, 1), 1U << 30)));
  put("acquisition_decoder", "empty_shot_header",
      std::string(3, '\1') + text(hello + raw_message(4, "", 48, random_bytes(48, 2))));
  wire::Hello every = wire_hello(acquisition);
  for (int i = 0; i < 3; ++i) {
    every.mutable_probe()->add_y(1e-3);
    every.mutable_probe()->add_z(-1e-3 * i);
    every.mutable_probe()->add_normal_x(0.6);
    every.mutable_probe()->add_normal_y(0.0);
    every.mutable_probe()->add_normal_z(0.8);
  }
  every.mutable_probe()->add_dead_elements(1);
  every.set_time_offset(1e-6);
  every.set_sample_scale(0.25);
  put("hello", "every_field", every.SerializeAsString());
}

/// Messages as ZeroMQ gives them: choices, length, bytes of each.
std::string row(const std::vector<Bytes>& messages, char choices = '\1') {
  std::string all;
  for (const Bytes& message : messages) {
    all += choices;
    all += static_cast<char>(message.size() & 0xFF);
    all += static_cast<char>(message.size() >> 8);
    all += text(message);
  }
  return all;
}

void whole_messages() {
  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    const Acquisition acquisition = make_acquisition(2, 5, MatrixKind::half, encoding);
    const Bytes frame = random_bytes(acquisition.frame_bytes(), 1);
    auto messages = frame_of(acquisition, 7, 2, frame);
    const auto next = frame_of(acquisition, 7, 3, frame);
    messages.insert(messages.end(), next.begin(), next.end());
    messages.push_back(end_of(7));
    put("message_handler", fmt::format("two_frames_{}", static_cast<int>(encoding)), row(messages));
  }
  const Acquisition acquisition = make_acquisition(2, 5);
  const Bytes frame = random_bytes(acquisition.frame_bytes(), 1);
  const auto good = frame_of(acquisition, 7, 2, frame);
  for (const auto& [name, listed] : event_lists())
    put("message_handler", name, row(frame_of(listed, 7, 2, random_bytes(listed.frame_bytes(), 1))));
  put("message_handler", "two_parts", row({good[0]}) + row({good[1], good[2]}, '\3'));
  put("message_handler", "waiting", row(frame_of(acquisition, 7, 3, frame), '\5'));
  put("message_handler", "silence_between", row({good[0], good[1]}, '\11') + row({good[0], good[2]}, '\11'));
  put("message_handler", "two_senders",
      row({good[0], hello_of(acquisition, 8), good[1], shot_of(8, 2, 0, Bytes(20)), end_of(8), good[2]}));
  put("message_handler", "wrong_token", row({hello_of(acquisition, 8, "sekret")}, '\21'));
  wire::Shot moved;
  moved.set_sequence(2);
  moved.set_transmit(1);
  moved.set_session(7);
  moved.set_position(-1200);
  put("message_handler", "position", row({good[0], good[1], raw_message(4, moved.SerializeAsString(), 20, Bytes(20))}));
  put("message_handler", "garbage", row({random_bytes(60, 1), Bytes(3), Bytes()}, '\0'));
  put("message_handler", "another_acquisition", row({good[0], hello_of(make_acquisition(2, 6), 7), good[1]}));
}

void published() {
  wire::Image image;
  image.set_stream("echoform");
  image.set_sequence(3);
  image.set_view("LL");
  image.set_publish_time(1'700'000'000'000'000'000U);
  image.set_latency(4'000'000);
  image.mutable_x()->set_first(-0.02);
  image.mutable_x()->set_last(0.02);
  image.mutable_x()->set_count(3);
  image.mutable_z()->set_first(0.005);
  image.mutable_z()->set_last(0.035);
  image.mutable_z()->set_count(2);
  image.set_encoding(wire::ENVELOPE_FLOAT32);
  image.set_dynamic_range_db(40.0);
  auto& stage = *image.add_stages();
  stage.set_stage("beamform");
  stage.set_nanoseconds(8'300'000);
  auto& drop = *image.add_drops();
  drop.set_reason("incomplete");
  drop.set_frames(2);
  image.set_pixels(std::string(24, '\x3f'));
  put("image_message", "envelope", image.SerializeAsString());
  image.set_position(-1200);
  put("image_message", "position", image.SerializeAsString());
  image.clear_position();
  put("image_message", "two_pixels_fields", image.SerializeAsString() + image.SerializeAsString());
  image.set_encoding(wire::DISPLAY_UINT8);
  image.mutable_y()->set_first(0.0);
  image.mutable_y()->set_last(1.0);
  image.mutable_y()->set_count(4);
  put("image_message", "volume", image.SerializeAsString());
  image.mutable_z()->set_count(0x80000000U);
  put("image_message", "huge", image.SerializeAsString());

  wire::Telemetry telemetry;
  telemetry.set_stream("echoform");
  telemetry.set_time(1'700'000'000'000'000'000U);
  telemetry.set_input_rate(30.0);
  telemetry.set_frames_received(9);
  auto& lost = *telemetry.add_drops();
  lost.set_reason("queue_full");
  lost.set_frames(1);
  put("telemetry", "second", telemetry.SerializeAsString());
  put("telemetry", "not_utf8", std::string("\x0a\x02\xff\xfe", 4));
}

void web() {
  put("request_rules", "page", "/?stream=a%2Fb&token=t%20x\nlocalhost:8080\nhttp://localhost:8080\nt x\nt x\n");
  put("request_rules", "ipv6", "/images?stream=echoform\n[::1]:8080\nhttps://[::1]:8080\nsecret\n\nBearer secret");
  put("request_rules", "name", "/x?%zz\nSCANNER.example\nhttp://evil.example\n\nx\nBasic x");
  put("request_rules", "broken", "/?token=%4\n[::1\nnull\nab\nabc\n");
  const std::string host = " HTTP/1.1\r\nHost: localhost:8080\r\n";
  put("web_session", "health", "GET /healthz" + host + "\r\n");
  put("web_session", "pages",
      "GET /?token=t" + host + "\r\nGET /streams.json?token=t" + host + "\r\nHEAD /metrics?token=t" + host + "\r\n");
  put("web_session", "no_token", "GET /metrics" + host + "\r\n");
  put("web_session", "bearer", "GET /metrics" + host + "Authorization: Bearer t\r\n\r\n");
  put("web_session", "body", "POST /" + host + "Content-Length: 3\r\n\r\nabc");
  put("web_session", "chunked", "GET /" + host + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  put("web_session", "wrong_host", "GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n");
  const std::string upgrade = "GET /images?stream=echoform&token=t" + host +
                              "Origin: http://localhost:8080\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  const auto frame = [](char first, const std::string& payload) {
    return std::string(1, first) + static_cast<char>(0x80 | payload.size()) + std::string(4, '\0') + payload;
  };
  put("web_session", "viewer", upgrade + frame('\x81', "ready") + frame('\x89', "ping") + frame('\x88', "\x03\xe8"));
  put("web_session", "viewer_says_nonsense", upgrade + frame('\x82', "ready") + frame('\x81', "more"));
  put("web_session", "viewer_fragments",
      upgrade + frame('\x01', "rea") + frame('\x80', "dy") + frame('\x81', std::string(100, 'x')));
  put("web_session", "wrong_origin",
      "GET /images?token=t" + host +
          "Origin: http://evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  put("host_port", "name", "localhost:17171");
  put("host_port", "ipv6", "[::1]:0");
  put("host_port", "any", "*:65535");
  put("host_port", "large", "a:65536");
}

void recordings() {
  test::BrainMaker brain{.elements = 2, .samples = 3};
  const auto whole = brain.file();
  put("brain_mat", "half", text(whole));
  put("brain_mat", "truncated", text(whole).substr(0, 700));
  put("brain_mat", "to_be_compressed", text(whole).replace(0, 1, "Z"));
  brain.compressed = true;
  put("brain_mat", "compressed", text(brain.file()));
  brain.compressed = false;
  brain.pairs = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  put("brain_mat", "full", text(brain.file()));
  brain.pairs = {{1, 0}, {1, 1}};
  put("brain_mat", "events", text(brain.file()));
  for (const bool matlab : {true, false}) {
    for (const bool compressed : {false, true}) {
      test::Mat73Maker maker;
      maker.elements = 2;
      maker.samples = 3;
      maker.matlab = matlab;
      maker.compressed = compressed;
      const auto path = folder / "brain_mat" / "version_7.3.mat";
      maker.save(path);
      const std::string bytes = bytes_of(path);
      std::filesystem::remove(path);
      const std::string name = fmt::format("version_7.3{}{}", matlab ? "" : "_h5py", compressed ? "_compressed" : "");
      put("brain_mat", name, bytes);
      if (matlab && !compressed) put("brain_mat", name + "_truncated", std::string_view(bytes).substr(0, bytes.size() / 2));
    }
  }

  std::filesystem::create_directories(folder / "capture");
  auto captured = event_lists();
  captured.emplace_back("full", make_acquisition(2, 3));
  captured.emplace_back("half", make_acquisition(2, 3, MatrixKind::half));
  for (const auto& [name, acquisition] : captured) {
    const bool half = name == "half";
    const auto path = folder / "capture" / (name + ".efcap");
    const auto writer = make_frame_writer(path, acquisition, {.recorded = WallTime(5)});
    for (const std::uint64_t sequence : {3U, 5U})
      writer->append(random_bytes(acquisition.frame_bytes(), 1), {.sequence = sequence, .acquisition_time = WallTime(9)});
    if (name == "full") {
      writer->append(random_bytes(acquisition.frame_bytes(), 1),
                     {.sequence = 6, .acquisition_time = WallTime(9), .position = -1200});
    }
    writer->close();
    const std::string bytes = bytes_of(path);
    std::filesystem::remove(path);
    put("capture", name, std::string(1, half ? '\1' : '\0') + bytes);
    put("capture", "cut_" + name, std::string(1, '\1') + bytes.substr(0, bytes.size() - 50));
  }

  std::filesystem::create_directories(folder / "mfmc_file");
  test::MfmcMaker mfmc{.elements = 2, .samples = 3};
  mfmc.fixed_strings = true;
  mfmc.write(folder / "mfmc_file" / "full");
  mfmc.deflate = true;
  mfmc.grouped = true;
  mfmc.write(folder / "mfmc_file" / "grouped");
  for (const auto& [name, acquisition] : event_lists()) {
    if (all_passive(acquisition.events)) continue;  // which the format does not hold
    const auto path = folder / "mfmc_file" / (name + ".mfmc");
    const auto writer = make_frame_writer(path, acquisition, {});
    writer->append(random_bytes(acquisition.frame_bytes(), 1), {});
    writer->close();
    std::filesystem::rename(path, folder / "mfmc_file" / name);
  }
  put("mfmc_contents", "unchanged", "");
  const auto change = [](int item, int what, int place, int number) {
    return std::string{static_cast<char>(item),       static_cast<char>(what),   static_cast<char>(place),
                       static_cast<char>(place >> 8), static_cast<char>(number), static_cast<char>(number >> 8)};
  };
  put("mfmc_contents", "not_finite", change(19, 3, 5, 0));
  put("mfmc_contents", "one_dead", change(10, 3, 1, 15));
  put("mfmc_contents", "without_time_step", change(20, 0, 0, 0));
  put("mfmc_contents", "a_law_of_text", change(24, 1, 0, 5) + change(13, 4, 0, 9));
  put("mfmc_contents", "flat_data", change(19, 6, 0, 0) + change(22, 3, 0, 4));
  const auto turn = [&](int item) { return change(item, 0, 0, 0); };  // leaves it out, or puts it in
  const std::string by_laws = turn(24) + turn(41);                    // of both elements
  put("mfmc_contents", "a_wave_beside_a_code", by_laws);
  put("mfmc_contents", "laws", by_laws + turn(40));
  put("mfmc_contents", "stated_waves", by_laws + turn(40) + turn(42) + turn(45));
  put("mfmc_contents", "a_source_that_delays_contradict", by_laws + turn(40) + turn(43));
  put("mfmc_contents", "rows_of_a_code", by_laws + turn(39));
  put("mfmc_contents", "stated_rows_of_a_code", by_laws + turn(39) + turn(44) + turn(45));
  put("mfmc_contents", "positions", turn(46));
  put("mfmc_contents", "positions_as_text", turn(46) + change(46, 1, 0, 5));
  put("mfmc_contents", "positions_without_encoders", turn(46) + change(46, 4, 1, 0));
  put("mfmc_contents", "an_endless_delay", by_laws + turn(40) + change(39, 3, 1, 4));
  put("ipasc_contents", "unchanged", "");
  put("ipasc_contents", "not_finite", change(0, 3, 5, 0));
  put("ipasc_contents", "without_a_rate", turn(1));
  put("ipasc_contents", "nanometres", change(2, 3, 0, 700) + change(2, 3, 1, 850));
  put("ipasc_contents", "energies_of_measurements", change(3, 4, 0, 4));
  put("ipasc_contents", "no_energies", change(3, 1, 0, 5));
  put("ipasc_contents", "a_map_of_velocities", change(4, 5, 0, 3));
  put("ipasc_contents", "three_axes", change(0, 6, 0, 0));
  put("ipasc_contents", "two_axes", change(0, 6, 0, 0) + change(0, 6, 0, 0) + turn(2) + turn(3));
  put("ipasc_contents", "axes_in_reverse", change(0, 4, 0, 2) + change(0, 4, 1, 2) + change(0, 4, 3, 3));
  put("ipasc_contents", "other_shapes", change(0, 4, 0, 69));
  put("ipasc_contents", "another_count", change(7, 3, 0, 4));
  put("ipasc_contents", "dead", turn(9));
  put("ipasc_contents", "no_position", turn(11));
  put("ipasc_contents", "position_not_finite", change(11, 3, 1, 0));
  put("ipasc_contents", "far_away", change(11, 3, 1, 4));
  put("ipasc_contents", "no_orientation", turn(12) + turn(16) + turn(20));
  put("ipasc_contents", "round", change(14, 7, 2, 0) + change(13, 6, 0, 0));
  put("ipasc_contents", "a_mesh", change(14, 7, 4, 0) + change(13, 1, 0, 5));
  put("kwave_contents", "unchanged", "");
  put("kwave_contents", "not_finite", change(13, 3, 5, 0));
  put("kwave_contents", "without_a_mask", turn(12));
  put("kwave_contents", "cuboids", change(11, 3, 0, 20));
  put("kwave_contents", "sensors_elsewhere", change(12, 3, 1, 31));
  put("kwave_contents", "more_sensors", change(12, 4, 2, 5));
  put("kwave_contents", "more_times", change(13, 4, 1, 6));
  put("kwave_contents", "later", change(13, 4, 1, 4));
  put("kwave_contents", "a_map_of_velocities", turn(10));
  put("kwave_contents", "no_velocity", change(9, 3, 0, 2));
  put("kwave_contents", "an_input", change(0, 7, 1, 0));
  put("kwave_contents", "a_plane", change(12, 3, 1, 21) + change(12, 3, 2, 17) + change(12, 3, 3, 16));
  put("kwave_contents", "without_dz", turn(8));
  put("kwave_contents", "a_huge_grid", change(1, 3, 0, 8));
  put("kwave_contents", "steps_that_vanish", change(5, 3, 0, 6));
  put("kwave_contents", "two_axes", change(13, 6, 0, 0));
  put("mfmc_contents", "a_law_of_nobody", by_laws + turn(39) + change(40, 3, 0, 3) + change(40, 3, 1, 3));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "expected the folder to write to\n");
    return 2;
  }
  folder = arguments[1];
  acquisition();
  whole_messages();
  published();
  web();
  recordings();
  return 0;
}
