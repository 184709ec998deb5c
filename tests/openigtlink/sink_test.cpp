// The server over real sockets, against a client that was written from the specification.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "base/errors.hpp"
#include "pipeline/scan.hpp"
#include "tests/openigtlink/frames.hpp"
#include "tests/openigtlink/plain_client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/patience.hpp"
#include "tests/transport_publish/thread_allocations.hpp"
#include "transport/openigtlink/openigtlink_sink.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;
using openigtlink_frames::Frames;
using openigtlink_frames::pixel;
using plain_igtl::Client;
using plain_igtl::Message;
using plain_igtl::number_at;
using plain_igtl::real_at;

OpenIgtlinkSinkOptions every_image() {
  OpenIgtlinkSinkOptions options;
  options.port = 0;
  options.most_per_second = 0.0;
  options.telemetry_interval = 1h;
  return options;
}

std::unique_ptr<OpenIgtlinkSink> open_sink(const Frames& frames, const OpenIgtlinkSinkOptions& options = every_image()) {
  auto sink = make_openigtlink_sink(options);
  sink->setup_changed(frames.setup());
  return sink;
}

/// A client that the server has let in: it begins with its status.
std::unique_ptr<Client> join(const OpenIgtlinkSink& sink) {
  auto client = std::make_unique<Client>(sink.port());
  EXPECT_EQ(client->read().type, "STATUS");
  return client;
}

bool same_pixels(const std::string& content, std::size_t pixels, std::uint64_t sequence) {
  if (content.size() != 72 + pixels) return false;
  for (std::size_t place = 0; place < pixels; ++place) {
    if (static_cast<std::uint8_t>(content[72 + place]) != pixel(place, sequence)) return false;
  }
  return true;
}

TEST(OpenIgtlinkSink, SendsEachStreamWithItsPlaceAndTime) {
  Frames frames;
  const auto sink = open_sink(frames);
  const auto client = join(*sink);
  sink->publish(frames.frame(5));
  const Message probe = client->read();
  EXPECT_EQ(probe.type, "TRANSFORM");
  EXPECT_EQ(probe.device, "probe");
  ASSERT_EQ(probe.content.size(), 48u);
  EXPECT_NEAR(real_at(probe.content, 0), -1.0, 1e-6);
  EXPECT_NEAR(real_at(probe.content, 36), -2.0, 1e-6);  // 2 mm along x

  const Message plane = client->read();
  EXPECT_EQ(plane.type, "IMAGE");
  EXPECT_EQ(plane.version, 1u);
  EXPECT_EQ(plane.device, "echoform/LL.display");
  EXPECT_EQ(plane.timestamp, (std::uint64_t{1'700'000'000} << 32) | 0x40000000u);  // a quarter of a second
  EXPECT_TRUE(same_pixels(plane.content, 21 * 16, 5));
  EXPECT_EQ(number_at(plane.content, 0, 2), 1u);
  EXPECT_EQ(number_at(plane.content, 2, 4), 0x01030201u);  // one component, uint8, little-endian, RAS
  EXPECT_EQ(number_at(plane.content, 6, 6), 0x0015'0010'0001u);
  EXPECT_NEAR(real_at(plane.content, 12), -1.0, 1e-6);
  EXPECT_NEAR(real_at(plane.content, 12 + 4 * 5), -2.0, 1e-6);
  EXPECT_NEAR(real_at(plane.content, 12 + 4 * 9), 0.0, 1e-6);     // the centre: x = 0
  EXPECT_NEAR(real_at(plane.content, 12 + 4 * 10), 4.0, 1e-6);    // y = 4 mm
  EXPECT_NEAR(real_at(plane.content, 12 + 4 * 11), -20.0, 1e-5);  // z = 20 mm

  const Message volume = client->read();
  EXPECT_EQ(volume.device, "echoform/TT.display");
  EXPECT_TRUE(same_pixels(volume.content, 7 * 5 * 4, 5));
  EXPECT_EQ(number_at(volume.content, 6, 6), 0x0007'0004'0005u);
}

TEST(OpenIgtlinkSink, SaysWhereTheProbeOfAScanIsByItsCount) {
  Frames frames;
  auto scan = std::make_shared<Scan>();
  // A tenth of a millimetre a count along x; the probe is turned by a quarter from x to y, and 5 mm down.
  scan->pose = [](EncoderCount count) {
    Pose pose;
    pose.origin = {Metres(1e-4 * static_cast<double>(count)), Metres(0.0), Metres(5e-3)};
    pose.x = {0.0, 1.0, 0.0};
    pose.y = {-1.0, 0.0, 0.0};
    return pose;
  };
  frames.setup()->scan = scan;
  const auto sink = open_sink(frames);
  const auto client = join(*sink);
  for (const EncoderCount count : {42, -7}) {
    frames.slot().position = count;
    sink->publish(frames.frame(1));
    const Message probe = client->read("TRANSFORM");
    ASSERT_EQ(probe.content.size(), 48u);
    // Columns of what is -x, y, -z of ours: where the probe's x, y and z point, and its place in mm. It is 2 mm from the pose's
    // origin along the probe's x.
    const std::array<double, 12> expected{0, 1, 0, 1, 0, 0, 0, 0, -1, -0.1 * static_cast<double>(count), 2, -5};
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(real_at(probe.content, 4 * k), expected[k], 1e-5) << k;
    for (int k = 0; k < 2; ++k) EXPECT_EQ(client->read().type, "IMAGE");
  }
  // Without a count nobody knows.
  frames.slot().position.reset();
  sink->publish(frames.frame(2));
  EXPECT_EQ(client->read().type, "IMAGE");
}

TEST(OpenIgtlinkSink, AnswersInTheVersionThatTheClientSpeaksWithMetadata) {
  Frames frames;
  const auto sink = open_sink(frames);
  const auto client = join(*sink);
  client->send(plain_igtl::encode({2, "STATUS", "Slicer", 0, std::string(31, '\0'), {{"dummy", "dummy"}}}));
  client->ask("GET_STATUS", "", 2);
  const Message status = client->read();
  EXPECT_EQ(status.version, 2u);
  EXPECT_EQ(number_at(status.content, 0, 2), 1u);  // ok
  EXPECT_EQ(status.content.substr(30), std::string("images are sent\0", 16));
  sink->publish(frames.frame(9));
  Message image = client->read("IMAGE");
  EXPECT_EQ(image.version, 2u);
  EXPECT_TRUE(same_pixels(image.content, 21 * 16, 9));
  EXPECT_EQ(image.metadata["Echoform.sequence"], "9");
  EXPECT_EQ(image.metadata["Echoform.view"], "LL");
  EXPECT_EQ(image.metadata["Echoform.stream"], "echoform/LL.display");
  EXPECT_EQ(image.metadata["Echoform.encoder_count"], "42");
  EXPECT_EQ(image.metadata["Echoform.acquisition_time"], "2023-11-14T22:13:20.250000000Z");
}

TEST(OpenIgtlinkSink, SendsEnvelopesAsRealsOfTheViewsThatAreAskedFor) {
  Frames frames;
  auto options = every_image();
  options.choice = {.envelope = true, .display = false};
  options.views = {"TT"};
  const auto sink = open_sink(frames, options);
  const auto client = join(*sink);
  EXPECT_TRUE(sink->wants_envelope());
  sink->publish(frames.frame(3));
  const Message image = client->read("IMAGE");
  EXPECT_EQ(image.device, "echoform/TT");
  EXPECT_EQ(number_at(image.content, 2, 4), 0x010A0201u);
  ASSERT_EQ(image.content.size(), 72u + 4 * 7 * 5 * 4);
  for (std::size_t place = 0; place < 7 * 5 * 4; ++place) {
    float value = 0.0F;
    std::memcpy(&value, image.content.data() + 72 + 4 * place, 4);
    EXPECT_EQ(value, static_cast<float>(place) + 0.75F);
  }
}

TEST(OpenIgtlinkSink, AnswersQuestions) {
  Frames frames;
  const auto sink = open_sink(frames);
  const auto client = join(*sink);
  client->ask("GET_IMGMETA");
  EXPECT_EQ(client->read("IMGMETA").content.size(), 2u * 260u);
  client->ask("GET_CAPABIL");
  EXPECT_EQ(client->read("CAPABILITY").content.substr(0, 6), std::string("IMAGE\0", 6));
  client->ask("GET_STRING");
  EXPECT_NE(client->read("STRING").content.find("{"), std::string::npos);
  client->ask("GET_POLYDATA", "mesh");
  const Message nothing = client->read("POLYDATA");
  EXPECT_EQ(nothing.device, "mesh");
  EXPECT_EQ(nothing.content, "");
  client->ask("STT_TDATA");
  EXPECT_EQ(client->read("RTS_TDATA").content, std::string(1, '\1'));
  client->ask("STP_IMAGE", "nobody");
  EXPECT_EQ(client->read("RTS_IMAGE").content, std::string(1, '\1'));

  // Nothing unasked after STP_IMAGE: the next answer follows the other without an image between, though there are images.
  client->ask("STP_IMAGE");
  EXPECT_EQ(client->read("RTS_IMAGE").content, std::string(1, '\0'));
  sink->publish(frames.frame(1));
  client->ask("GET_STATUS");
  EXPECT_EQ(client->read().type, "STATUS");
  client->ask("GET_IMAGE", "echoform/TT.display");
  const Message image = client->read();
  EXPECT_EQ(image.device, "echoform/TT.display");
  EXPECT_TRUE(same_pixels(image.content, 7 * 5 * 4, 1));
  client->ask("GET_IMAGE", "nobody");
  EXPECT_EQ(client->read().content, "");
  client->ask("GET_TRANS");
  EXPECT_EQ(client->read().content.size(), 48u);

  client->ask("STT_IMAGE", "echoform/LL.display");
  EXPECT_EQ(client->read("RTS_IMAGE").content, std::string(1, '\0'));
  sink->publish(frames.frame(2));
  const Message again = client->read("IMAGE");
  EXPECT_EQ(again.device, "echoform/LL.display");
}

TEST(OpenIgtlinkSink, SaysWhetherThereIsASender) {
  Frames frames;
  const auto sink = make_openigtlink_sink(every_image());
  Client client(sink->port());
  EXPECT_EQ(number_at(client.read("STATUS").content, 0, 2), 13u);
  sink->setup_changed(frames.setup());
  EXPECT_EQ(number_at(client.read("STATUS").content, 0, 2), 1u);
  sink->publish(frames.frame(0));
  EXPECT_EQ(client.read("IMAGE").device, "echoform/LL.display");  // a client of before sees streams that come
  sink->stream_ended();
  EXPECT_EQ(number_at(client.read("STATUS").content, 0, 2), 13u);
}

TEST(OpenIgtlinkSink, TellsFigures) {
  Frames frames;
  auto options = every_image();
  options.telemetry_interval = 10ms;
  const auto sink = open_sink(frames, options);
  const auto client = join(*sink);
  sink->publish(frames.frame(0));
  Message figures;
  do {
    figures = client->read("STRING");
  } while (figures.content.find("\"frames_published\":1,") == std::string::npos && !figures.content.empty());
  EXPECT_EQ(figures.device, "telemetry");
  EXPECT_EQ(number_at(figures.content, 2, 2), figures.content.size() - 4);
}

openigtlink_frames::Shape large() {
  openigtlink_frames::Shape shape;
  shape.plane.x.count = shape.plane.z.count = 1024;  // 1 MiB: more than sockets hold for long
  return shape;
}

TEST(OpenIgtlinkSink, AStuckClientCostsTheOthersNothing) {
  Frames frames(large());
  auto options = every_image();
  options.views = {"LL"};
  options.client_timeout = 2 * patience;
  const auto sink = open_sink(frames, options);
  const auto stuck = join(*sink);
  const auto fast = join(*sink);
  const std::size_t buffers = sink->image_buffers();
  (void)frames.frame(0);
  for (std::uint64_t sequence = 1; sequence <= 20; ++sequence) {
    static_cast<std::uint8_t*>(frames.slot().outputs[1].data.data())[0] = static_cast<std::uint8_t>(sequence);
    sink->publish(frames.again(sequence));
    const Message image = fast->read("IMAGE");
    ASSERT_EQ(image.content.size(), 72u + 1024 * 1024);
    ASSERT_EQ(static_cast<std::uint8_t>(image.content[72]), sequence);
    EXPECT_EQ(sink->image_buffers(), buffers);
  }
  EXPECT_GT(sink->dropped(), 0u);  // those that the stuck one never sees
  EXPECT_EQ(sink->clients(), 2u);
}

TEST(OpenIgtlinkSink, WhoTakesNothingIsCutOff) {
  openigtlink_frames::Shape shape;
  shape.plane.x.count = shape.plane.z.count = 4096;  // 16 MiB: more than sockets of both ends hold
  Frames frames(shape);
  auto options = every_image();
  options.views = {"LL"};
  options.client_timeout = 1s;
  const auto sink = open_sink(frames, options);
  const auto stuck = join(*sink);
  sink->publish(frames.again(1));
  EXPECT_TRUE(eventually([&] { return sink->clients() == 0; }));
  EXPECT_EQ(sink->peers().refused_for(PeerRefusal::silent), 1u);
}

TEST(OpenIgtlinkSink, QuestionsWhoseAnswersNobodyReadsAreNotKept) {
  Frames frames;
  auto options = every_image();
  options.client_timeout = 1s;
  const auto sink = open_sink(frames, options);
  Client rude(sink->port());
  const auto good = join(*sink);
  std::string questions;
  for (int k = 0; k < 500; ++k) questions += plain_igtl::encode({1, "GET_IMGMETA", "", 0});
  // Until it is cut off, for saying too much or for taking nothing.
  EXPECT_THROW(
      {
        for (;;) rude.send(questions);
      },
      boost::system::system_error);
  EXPECT_TRUE(eventually([&] { return sink->clients() == 1; }));
  sink->publish(frames.frame(7));
  EXPECT_TRUE(same_pixels(good->read("IMAGE").content, 21 * 16, 7));
}

TEST(OpenIgtlinkSink, WhoSendsNonsenseIsCutOffAlone) {
  Frames frames;
  const auto sink = open_sink(frames);
  const auto good = join(*sink);
  std::string wrong_sum = plain_igtl::encode({1, "STRING", "", 0, "body"});
  wrong_sum.back() = 'x';
  std::string endless = plain_igtl::encode({1, "IMAGE", "", 0});
  endless.replace(42, 8, std::string(8, '\x7F'));
  std::uint64_t cut = 0;
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html, */*; q=0.5\r\n\r\n"),
                                   std::string(4096, '\0'), std::string(4096, '\xFF'), wrong_sum, endless}) {
    Client bad(sink->port());
    bad.send(bytes);
    while (!bad.read().type.empty()) {
    }
    ++cut;
    EXPECT_TRUE(eventually([&] { return sink->clients() == 1; }));
    EXPECT_EQ(sink->peers().refused_for(PeerRefusal::bad_request), cut);
  }
  { Client leaves(sink->port()); }
  {
    Client leaves(sink->port());
    leaves.send(std::string(20, '\1'));
  }
  EXPECT_TRUE(eventually([&] { return sink->clients() == 1; }));
  sink->publish(frames.frame(7));
  EXPECT_TRUE(same_pixels(good->read("IMAGE").content, 21 * 16, 7));
}

TEST(OpenIgtlinkSink, HasPlacesForSoManyClients) {
  Frames frames;
  auto options = every_image();
  options.clients = 2;
  const auto sink = open_sink(frames, options);
  const auto one = join(*sink);
  auto two = join(*sink);
  Client three(sink->port());
  EXPECT_EQ(three.read().type, "");
  EXPECT_EQ(sink->peers().refused_for(PeerRefusal::too_many), 1u);
  two.reset();
  EXPECT_TRUE(eventually([&] { return sink->clients() == 1; }));
  (void)join(*sink);
}

TEST(OpenIgtlinkSink, SendsNoMoreInASecondThanIsWanted) {
  Frames frames;
  auto options = every_image();
  options.views = {"LL"};
  options.most_per_second = 1e-3;
  const auto sink = open_sink(frames, options);
  const auto client = join(*sink);
  // Two at once are let pass, so that rates that do not divide one another come out right; then none for a thousand seconds.
  for (std::uint64_t sequence = 1; sequence <= 2; ++sequence) {
    sink->publish(frames.frame(sequence));
    EXPECT_TRUE(same_pixels(client->read("IMAGE").content, 21 * 16, sequence));
  }
  for (std::uint64_t sequence = 3; sequence <= 20; ++sequence) sink->publish(frames.frame(sequence));
  client->ask("GET_STATUS");
  EXPECT_EQ(client->read().type, "STATUS");
  EXPECT_EQ(sink->dropped(), 0u);  // nobody was too slow
}

TEST(OpenIgtlinkSink, AllocatesNothingForAFrame) {
  openigtlink_frames::Shape shape;
  shape.volume = shape.plane;
  Frames frames(shape);
  const auto sink = open_sink(frames);
  const auto client = join(*sink);
  for (std::uint64_t sequence = 0; sequence < 10; ++sequence) sink->publish(frames.frame(sequence));
  const std::size_t before = thread_allocations();
  for (std::uint64_t sequence = 0; sequence < 100; ++sequence) sink->publish(frames.again(sequence));
  EXPECT_EQ(thread_allocations(), before);
}

TEST(OpenIgtlinkSink, FollowsSettingsThatChange) {
  Frames before;
  openigtlink_frames::Shape shape;
  shape.plane.x = {Metres(0.0), Metres(0.010), 6};
  Frames after(shape);
  const auto sink = open_sink(before);
  const auto client = join(*sink);
  sink->publish(before.frame(1));
  EXPECT_TRUE(same_pixels(client->read("IMAGE").content, 21 * 16, 1));
  sink->setup_changed(after.setup());
  sink->publish(after.frame(2));
  Message image;
  do {
    image = client->read("IMAGE");
  } while (image.content.size() != 72 + 6 * 16 && !image.type.empty());
  EXPECT_TRUE(same_pixels(image.content, 6 * 16, 2));
  EXPECT_NEAR(real_at(image.content, 12), -2.0, 1e-6);
  EXPECT_NEAR(real_at(image.content, 12 + 4 * 9), -5.0, 1e-6);
}

TEST(OpenIgtlinkSink, SaysWhatItCannotListenOn) {
  OpenIgtlinkSinkOptions options = every_image();
  options.address = "nowhere";
  EXPECT_THROW((void)make_openigtlink_sink(options), InputError);
  options = every_image();
  const auto first = make_openigtlink_sink(options);
  options.port = first->port();
  EXPECT_THROW((void)make_openigtlink_sink(options), RuntimeFault);
}

}  // namespace
}  // namespace echoform
