#include <gmock/gmock.h>

#include <cstring>

#include "acquisition/frame_layout.hpp"
#include "formats/capture_file.hpp"
#include "formats/capture_scan.hpp"
#include "formats/crc32c.hpp"
#include "formats/frame_writer.hpp"
#include "formats/recording.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/every_form.hpp"
#include "tests/support/input_error.hpp"
#include "transport/acquisition/framing.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::test {
namespace {

using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Bytes = std::vector<std::byte>;

Acquisition acquisition_of(SampleEncoding encoding = SampleEncoding::int16, MatrixKind matrix = MatrixKind::full) {
  Acquisition a;
  a.probe = make_linear_probe(3, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  a.matrix = matrix;
  a.encoding = encoding;
  a.samples = 5;
  a.sample_rate = Hertz(40e6);
  a.start_time = Seconds(-1e-6);
  a.time_offset = Seconds(0.25e-6);
  a.sample_scale = encoding == SampleEncoding::float32 ? 1.0 : 0.5;
  return a;
}

Bytes random_frame(const Acquisition& a, unsigned seed) {
  Bytes bytes(a.frame_bytes());
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>((seed * 37 + k * 11) & 0x3F);
  return bytes;
}

/// A sender's bytes, put together by hand.
struct Sender {
  Acquisition acquisition = acquisition_of();
  std::uint64_t session = 7;
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  [[nodiscard]] Bytes hello() const {
    return encode_message(
        MessageType::hello,
        encode_hello({.session = session, .connection_index = index, .connection_count = count, .sender = "test", .token = {}},
                     acquisition));
  }
  [[nodiscard]] Bytes shot(std::uint64_t sequence, std::uint32_t transmit, const Bytes& frame,
                           std::optional<EncoderCount> position = {}) const {
    const ByteRange range = FrameLayout(acquisition).shot_bytes(transmit);
    const auto payload = std::span(frame).subspan(range.first, range.count);
    std::array<std::byte, maximum_encoded_shot_bytes> header{};
    const ShotHeader stated{
        .sequence = sequence, .transmit = transmit, .acquisition_time = WallTime(1000 + sequence), .position = position};
    const std::size_t length = encode_shot(header, stated, payload.size());
    Bytes bytes(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(length));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
  }
};

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Crc32c, EqualsTheTableAndTheKnownValue) {
  const std::string digits = "123456789";
  EXPECT_EQ(formats::crc32c(std::as_bytes(std::span(digits))), 0xE3069283U);
  Bytes bytes(1000);
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(k * k);
  for (std::size_t size = 0; size < 40; ++size) {
    const auto part = std::span<const std::byte>(bytes).subspan(size, 17 * size);
    EXPECT_EQ(formats::crc32c(part), formats::crc32c_by_table(part)) << size;
  }
}

TEST(CaptureFile, GivesBackWhatWasWritten) {
  const Scratch scratch;
  const auto path = scratch / "c.efcap";
  Bytes large(maximum_capture_payload + 5);
  for (std::size_t k = 0; k < large.size(); ++k) large[k] = static_cast<std::byte>(k * 7);
  {
    CaptureWriter writer(path, WallTime(123));
    writer.append(CaptureRecordType::open, 0, nanoseconds(1), "peer");
    writer.append(CaptureRecordType::sent, 0, nanoseconds(2), large);
    writer.append(CaptureRecordType::answer, 0, nanoseconds(2), "");
    writer.flush();
    writer.close(nanoseconds(9));
    writer.close(nanoseconds(9));
    EXPECT_EQ(writer.bytes(), std::filesystem::file_size(path));
  }
  CaptureReader reader(path);
  EXPECT_EQ(reader.began(), WallTime(123));
  auto record = reader.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->type, CaptureRecordType::open);
  EXPECT_EQ(record->time, nanoseconds(1));
  EXPECT_EQ(record->payload.size(), 4U);
  Bytes found;
  for (int piece = 0; piece < 2; ++piece) {
    record = reader.next();
    ASSERT_TRUE(record);
    EXPECT_EQ(record->type, CaptureRecordType::sent);
    Bytes again(record->payload.size());
    reader.read_at(record->offset, again);
    EXPECT_TRUE(std::equal(again.begin(), again.end(), record->payload.begin()));
    found = found + again;
  }
  EXPECT_EQ(found, large);
  record = reader.next();
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->payload.empty());
  ASSERT_TRUE(reader.next());
  EXPECT_TRUE(reader.finished());
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.damage(), "");
  EXPECT_THAT(input_error([&] { CaptureWriter(path, WallTime(0)); }), HasSubstr("there already"));
}

TEST(CaptureFile, EveryCutLeavesTheRecordsBefore) {
  const Scratch scratch;
  const auto path = scratch / "c.efcap";
  {
    CaptureWriter writer(path, WallTime(0));
    for (int k = 0; k < 3; ++k) writer.append(CaptureRecordType::sent, 0, nanoseconds(k), "abcde");
    writer.close(nanoseconds(3));
  }
  const auto whole = load(path);
  const auto cut_path = scratch / "cut.efcap";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    save(cut_path, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    if (size < capture_header_bytes) {
      EXPECT_NE(input_error([&] { CaptureReader{cut_path}; }), "") << size;
      continue;
    }
    CaptureReader reader(cut_path);
    std::size_t records = 0;
    while (reader.next()) ++records;
    EXPECT_EQ(records, std::min<std::size_t>(3, (size - capture_header_bytes) / (capture_record_header_bytes + 5)));
    EXPECT_FALSE(reader.finished());
    EXPECT_EQ(reader.damage(), "") << size;
  }
}

TEST(CaptureFile, EveryChangedByteIsSeen) {
  const Scratch scratch;
  const auto path = scratch / "c.efcap";
  {
    CaptureWriter writer(path, WallTime(5));
    writer.append(CaptureRecordType::sent, 0, nanoseconds(1), "abcde");
    writer.close(nanoseconds(3));
  }
  const auto whole = load(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto changed = whole;
    changed[at] ^= 0x10;
    save(path, changed);
    if (at < capture_header_bytes) {
      EXPECT_NE(input_error([&] { CaptureReader{path}; }), "") << at;
      continue;
    }
    CaptureReader reader(path);
    while (reader.next()) {
    }
    EXPECT_FALSE(reader.finished()) << at;
    EXPECT_THAT(reader.damage(), HasSubstr("c.efcap: record at offset ")) << at;
  }
}

class CaptureFrames : public ::testing::Test {
 protected:
  void write(const std::vector<std::pair<std::uint32_t, Bytes>>& pieces, bool closed = true) {
    CaptureWriter writer(path, WallTime(1'773'480'413'000'000'000));
    std::uint32_t next = 0;
    for (const auto& [connection, bytes] : pieces) {
      for (; next <= connection; ++next) writer.append(CaptureRecordType::open, next, time, "peer");
      // Odd lengths, so that messages lie across records.
      for (std::size_t at = 0; at < bytes.size(); at += 17) {
        time += nanoseconds(10);
        writer.append(CaptureRecordType::sent, connection, time,
                      std::span(bytes).subspan(at, std::min<std::size_t>(17, bytes.size() - at)));
      }
    }
    if (!closed) return;
    for (std::uint32_t k = 0; k < next; ++k) writer.append(CaptureRecordType::close, k, time, "end");
    writer.close(time);
  }

  Scratch scratch;
  std::filesystem::path path = scratch / "c.efcap";
  nanoseconds time{0};
};

TEST_F(CaptureFrames, AreFoundOverConnectionsAndRecords) {
  const Sender a{.count = 2};
  const Sender b{.index = 1, .count = 2};
  const Bytes first = random_frame(a.acquisition, 1);
  const Bytes second = random_frame(a.acquisition, 2);
  write({{0, a.hello()},
         {1, b.hello() + b.shot(10, 1, first)},
         {0, a.shot(10, 2, first) + a.shot(12, 0, second)},
         {1, b.shot(11, 1, second)},  // never becomes whole
         {0, a.shot(10, 0, first) + a.shot(12, 2, second) + encode_message(MessageType::end, {})},
         {1, b.shot(12, 1, second) + encode_message(MessageType::end, {})}});
  const CaptureScan found(path, {});
  EXPECT_TRUE(found.finished());
  ASSERT_EQ(found.connections().size(), 2U);
  EXPECT_EQ(found.connections()[1].sender, "test");
  EXPECT_EQ(found.connections()[1].index, 1U);
  EXPECT_EQ(found.connections()[0].shots, 4U);
  EXPECT_EQ(found.connections()[0].fault, "");
  ASSERT_EQ(found.sequences().size(), 1U);
  EXPECT_EQ(found.sequences()[0].incomplete, 1U);
  EXPECT_EQ(found.sequences()[0].gaps, 1U);
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), 2U);
  EXPECT_EQ(recording->stored(), a.acquisition);
  EXPECT_EQ(recording->stamp(1).sequence, 12U);
  EXPECT_EQ(recording->stamp(1).acquisition_time, WallTime(1012));
  Bytes bytes(first.size());
  recording->read_stored(0, bytes);
  EXPECT_EQ(bytes, first);
  recording->read_stored(1, bytes);
  EXPECT_EQ(bytes, second);
  std::vector<float> samples(9 * 5);
  recording->read_frame(1, samples);
  std::int16_t count = 0;
  std::memcpy(&count, second.data() + 2 * 44, 2);
  EXPECT_EQ(samples[44], 0.5F * count);
}

TEST_F(CaptureFrames, HaveThePositionThatAServerHas) {
  Sender a{.count = 2};
  a.acquisition.probe.elements[0].dead = true;
  Sender b = a;
  b.index = 1;
  const Bytes frame = random_frame(a.acquisition, 1);
  write({{0, a.hello()},
         {1, b.hello() + b.shot(0, 2, frame, 22)},
         // The shot of a dead element counts nowhere; one that comes twice counts once.
         {0, a.shot(0, 0, frame, 20) + a.shot(0, 2, frame, 99) + a.shot(0, 1, frame, 21) + a.shot(1, 1, frame)},
         {1, b.shot(1, 2, frame, 0) + b.shot(2, 1, frame)},
         {0, a.shot(2, 2, frame)}});
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), 3U);
  EXPECT_EQ(recording->stamp(0).position, EncoderCount{21});
  EXPECT_EQ(recording->stamp(1).position, EncoderCount{0});
  EXPECT_EQ(recording->stamp(2).position, std::nullopt);
}

TEST_F(CaptureFrames, OfADeadElementAreWholeWithoutItsShots) {
  Sender sender;
  sender.acquisition.probe.elements[1].dead = true;
  const Bytes frame = random_frame(sender.acquisition, 3);
  write({{0, sender.hello() + sender.shot(0, 0, frame) + sender.shot(0, 2, frame)}}, false);
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), 1U);
  EXPECT_THAT(recording->describe(), HasSubstr("not closed by its writer"));
  Bytes expected = frame;
  std::fill(expected.begin() + 30, expected.begin() + 60, std::byte{0});
  Bytes bytes(frame.size());
  recording->read_stored(0, bytes);
  EXPECT_EQ(bytes, expected);
}

TEST_F(CaptureFrames, TakeShotsThatComeAfterTheyAreWhole) {
  Sender sender;
  sender.acquisition.probe.elements[2].dead = true;
  const Bytes first = random_frame(sender.acquisition, 1);
  const Bytes second = random_frame(sender.acquisition, 2);
  // The dead element's shot comes last, once behind the next frame; a repeated shot changes nothing and begins no frame.
  write({{0, sender.hello() + sender.shot(0, 0, first) + sender.shot(0, 1, first) + sender.shot(1, 0, second) +
                 sender.shot(1, 1, second) + sender.shot(0, 2, first) + sender.shot(1, 2, second) + sender.shot(1, 0, first)}});
  const CaptureScan found(path, {});
  EXPECT_EQ(found.sequences()[0].incomplete, 0U);
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), 2U);
  Bytes bytes(first.size());
  recording->read_stored(0, bytes);
  EXPECT_EQ(bytes, first);
  recording->read_stored(1, bytes);
  EXPECT_EQ(bytes, second);
}

TEST_F(CaptureFrames, NumberedAnewInTheSameSessionAreFramesOfTheirOwn) {
  const Sender sender;
  const Bytes first = random_frame(sender.acquisition, 1);
  const Bytes second = random_frame(sender.acquisition, 2);
  Bytes all = sender.hello();
  for (const Bytes& frame : {first, second}) {
    for (std::uint32_t t : {0U, 1U, 2U}) all = all + sender.shot(0, t, frame);
  }
  write({{0, all}});
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), 2U);
  Bytes bytes(first.size());
  recording->read_stored(1, bytes);
  EXPECT_EQ(bytes, second);
}

TEST_F(CaptureFrames, AreIncompleteOnceTheLastConnectionOfTheirSessionIsGone) {
  const Sender a{.count = 2};
  const Sender b{.index = 1, .count = 2};
  const Bytes frame = random_frame(a.acquisition, 1);
  const Bytes end = encode_message(MessageType::end, {});
  write({{0, a.hello() + a.shot(4, 0, frame)},
         {1, b.hello()},
         {0, end},
         {1, b.shot(4, 1, frame) + b.shot(4, 2, frame) + b.shot(5, 1, frame) + end},
         {2, a.hello() + a.shot(5, 0, frame)},
         {3, b.hello() + b.shot(5, 2, frame)}});
  const CaptureScan found(path, {});
  EXPECT_EQ(found.sequences()[0].frames.size(), 1U);  // the first connection's end was not the last
  EXPECT_EQ(found.sequences()[0].incomplete, 2U);     // 5 of the first pair, and of the second
}

TEST_F(CaptureFrames, TakeMemoryForTheShotsThatCameOnly) {
  Sender sender;
  sender.acquisition.probe = make_linear_probe(200, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  for (std::size_t i = 1; i < 200; ++i) sender.acquisition.probe.elements[i].dead = true;
  sender.acquisition.matrix = MatrixKind::half;
  sender.acquisition.samples = 2;
  const Bytes frame = random_frame(sender.acquisition, 1);
  Bytes all = sender.hello();
  for (std::uint64_t k = 0; k < 4; ++k) all = all + sender.shot(k, 0, frame);
  write({{0, all}});
  const CaptureScan found(path, {});
  ASSERT_EQ(found.sequences().size(), 1U);
  ASSERT_EQ(found.sequences()[0].frames.size(), 4U);
  for (const CapturedFrame& of : found.sequences()[0].frames) EXPECT_EQ(of.shots.capacity(), 1U);
}

TEST_F(CaptureFrames, OfSeveralAcquisitionsAreKeptApart) {
  const Sender one;
  const Sender other{.acquisition = acquisition_of(SampleEncoding::float32, MatrixKind::half), .session = 7};
  const Bytes frame = random_frame(one.acquisition, 1);
  const Bytes another(other.acquisition.frame_bytes());
  Bytes all = one.hello();
  for (std::uint32_t t : {0U, 1U, 2U}) all = all + one.shot(0, t, frame);
  Bytes rest = other.hello();
  for (std::uint32_t t : {0U, 1U, 2U}) rest = rest + other.shot(0, t, another);
  write({{0, all}, {1, rest}, {0, one.shot(1, 0, frame)}});
  EXPECT_EQ(open_recording(path)->stored().encoding, SampleEncoding::int16);
  EXPECT_EQ(open_recording(path, {.sequence = 1})->stored(), other.acquisition);
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(path, {.sequence = 2})); }), HasSubstr("0 to 1"));
}

TEST_F(CaptureFrames, BytesThatAreNoProtocolAreAFaultOfTheirConnection) {
  const Sender good;
  const Bytes frame = random_frame(good.acquisition, 1);
  Bytes all = good.hello();
  for (std::uint32_t t : {0U, 1U, 2U}) all = all + good.shot(0, t, frame);
  const Bytes nonsense(100, std::byte{'x'});
  Bytes cut = good.hello();
  cut.pop_back();
  write({{0, nonsense}, {1, all}, {2, cut}});
  const CaptureScan found(path, {});
  EXPECT_THAT(found.connections()[0].fault, HasSubstr("message magic"));
  EXPECT_EQ(found.connections()[1].fault, "");
  EXPECT_THAT(found.connections()[2].fault, HasSubstr("ends within a message"));
  EXPECT_EQ(open_recording(path)->frames(), 1U);
}

TEST_F(CaptureFrames, ACaptureWithoutFramesIsRefusedAsARecording) {
  write({});
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(path)); }), HasSubstr("no Hello of a sender"));
  std::filesystem::remove(path);
  write({{0, Sender{}.hello()}});
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(path)); }), HasSubstr("no whole frame"));
  save(path, {1, 2, 3});
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(path)); }), HasSubstr("EFCAPTUR"));
}

class WrittenFrames : public ::testing::TestWithParam<std::tuple<MatrixKind, SampleEncoding>> {};

TEST_P(WrittenFrames, AreReadBackBitByBit) {
  const Scratch scratch;
  const auto path = scratch / "w.efcap";
  const Acquisition a = acquisition_of(std::get<1>(GetParam()), std::get<0>(GetParam()));
  {
    const auto writer = make_frame_writer(path, a, {.recorded = WallTime(100)});
    writer->append(random_frame(a, 1), {.sequence = 5, .acquisition_time = WallTime(100)});
    writer->append(random_frame(a, 2), {.sequence = 9, .acquisition_time = WallTime(700), .position = -3});
    writer->close();
    EXPECT_EQ(writer->frames(), 2U);
  }
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), 2U);
  EXPECT_EQ(recording->stored(), a);
  EXPECT_EQ(recording->stamp(1).sequence, 9U);
  EXPECT_EQ(recording->stamp(1).acquisition_time, WallTime(700));
  EXPECT_EQ(recording->stamp(0).position, std::nullopt);
  EXPECT_EQ(recording->stamp(1).position, EncoderCount{-3});
  Bytes bytes(a.frame_bytes());
  recording->read_stored(1, bytes);
  EXPECT_EQ(bytes, random_frame(a, 2));
  const CaptureScan scan(path, {});
  EXPECT_EQ(scan.duration(), nanoseconds(600));
  EXPECT_TRUE(scan.finished());
}

TEST_P(WrittenFrames, KeepTheShotsOfALastElementThatIsDead) {
  const Scratch scratch;
  const auto path = scratch / "w.efcap";
  Acquisition a = acquisition_of(std::get<1>(GetParam()), std::get<0>(GetParam()));
  a.probe.elements.back().dead = true;
  {
    const auto writer = make_frame_writer(path, a, {.recorded = WallTime(100)});
    for (unsigned k = 0; k < 3; ++k) writer->append(random_frame(a, k), {.sequence = k, .acquisition_time = WallTime(100)});
    writer->close();
  }
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), 3U);
  EXPECT_EQ(CaptureScan(path, {}).sequences()[0].incomplete, 0U);
  Bytes bytes(a.frame_bytes());
  for (unsigned k = 0; k < 3; ++k) {
    recording->read_stored(k, bytes);
    EXPECT_EQ(bytes, random_frame(a, k)) << k;
  }
}

TEST(ConvertedFrames, OfEventsComeBackFromCaptureAndMfmcBitByBit) {
  const Scratch scratch;
  Acquisition a = acquisition_of();
  a.events = element_events(std::vector<std::uint32_t>{static_cast<std::uint32_t>(a.elements() - 1), 0});
  for (const std::string name : {"events.efcap", "events.mfmc"}) {
    {
      const auto writer = make_frame_writer(scratch / name, a, {.recorded = WallTime(100)});
      for (unsigned k = 0; k < 3; ++k) writer->append(random_frame(a, k), {.sequence = k, .acquisition_time = WallTime(100)});
      writer->close();
    }
    const auto recording = open_recording(scratch / name);
    ASSERT_EQ(recording->frames(), 3U) << name;
    EXPECT_EQ(recording->stored().events, a.events) << name;
    Bytes bytes(a.frame_bytes());
    for (unsigned k = 0; k < 3; ++k) {
      recording->read_stored(k, bytes);
      EXPECT_EQ(bytes, random_frame(a, k)) << name << ", frame " << k;
    }
  }
}

TEST(ConvertedFrames, OfEventsOfEveryFormComeBackFromACaptureBitByBit) {
  const Scratch scratch;
  for (const auto& [name, a] : {std::pair<const char*, Acquisition>{"waves.efcap", testing_support::acquisition_of_waves(20)},
                                {"positions.efcap", testing_support::acquisition_of_positions(20)},
                                {"codes.efcap", testing_support::acquisition_of_codes(20)},
                                {"passive.efcap", testing_support::acquisition_of_passive(20)},
                                {"turned.efcap", testing_support::acquisition_of_turned_passive(20)}}) {
    const auto path = scratch / name;
    {
      const auto writer = make_frame_writer(path, a, {.recorded = WallTime(100)});
      for (unsigned k = 0; k < 2; ++k) writer->append(random_frame(a, k), {.sequence = k, .acquisition_time = WallTime(100)});
      writer->close();
    }
    const auto recording = open_recording(path);
    ASSERT_EQ(recording->frames(), 2U);
    EXPECT_EQ(recording->stored(), a);
    Bytes bytes(a.frame_bytes());
    for (unsigned k = 0; k < 2; ++k) {
      recording->read_stored(k, bytes);
      EXPECT_EQ(bytes, random_frame(a, k)) << "frame " << k;
    }
  }
}

TEST(ConvertedFrames, WithALastElementThatIsDeadComeBackFromACaptureBitByBit) {
  const Scratch scratch;
  Acquisition a = acquisition_of();
  a.probe.elements.back().dead = true;
  const auto copy = [&](Recording& from, const std::filesystem::path& to) {
    const auto writer = make_frame_writer(to, from.stored(), {.recorded = WallTime(100)});
    Bytes bytes(from.stored().frame_bytes());
    for (std::size_t frame = 0; frame < from.frames(); ++frame) {
      from.read_stored(frame, bytes);
      writer->append(bytes, from.stamp(frame));
    }
    writer->close();
  };
  {
    const auto writer = make_frame_writer(scratch / "first.mfmc", a, {.recorded = WallTime(100)});
    for (unsigned k = 0; k < 3; ++k) writer->append(random_frame(a, k), {.sequence = k, .acquisition_time = WallTime(100)});
    writer->close();
  }
  copy(*open_recording(scratch / "first.mfmc"), scratch / "between.efcap");
  copy(*open_recording(scratch / "between.efcap"), scratch / "last.mfmc");
  const auto last = open_recording(scratch / "last.mfmc");
  ASSERT_EQ(last->frames(), 3U);
  Bytes bytes(a.frame_bytes());
  for (unsigned k = 0; k < 3; ++k) {
    last->read_stored(k, bytes);
    EXPECT_EQ(bytes, random_frame(a, k)) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, WrittenFrames,
                         ::testing::Combine(::testing::Values(MatrixKind::full, MatrixKind::half, MatrixKind::half_summed),
                                            ::testing::Values(SampleEncoding::int16, SampleEncoding::packed12,
                                                              SampleEncoding::float32)));

TEST(CaptureReader, RefusesHeadersOfOtherFiles) {
  const Scratch scratch;
  const auto path = scratch / "x.efcap";
  { CaptureWriter(path, WallTime(1'000'000)).close(nanoseconds(0)); }
  const std::vector<std::uint8_t> whole = load(path);
  ASSERT_GE(whole.size(), capture_header_bytes);
  const auto error_with = [&](std::size_t at, std::uint64_t value, std::size_t size, bool right_sum = true) {
    std::vector<std::uint8_t> bytes = whole;
    std::memcpy(bytes.data() + at, &value, size);
    if (right_sum) {
      const std::uint32_t sum = formats::crc32c(std::as_bytes(std::span(bytes)).first(28));
      std::memcpy(bytes.data() + 28, &sum, sizeof sum);
    }
    save(path, bytes);
    return input_error([&] { const CaptureReader reader(path); });
  };
  const std::string name = path.string();
  EXPECT_EQ(error_with(0, 'X', 1), name + ": found another beginning; expected that of a capture (\"EFCAPTUR\")");
  EXPECT_EQ(error_with(24, 1, 1, false), name + ": found a header whose checksum is wrong; expected a whole capture");
  EXPECT_EQ(error_with(8, 2, 4), name + ": found version 2; expected version 1");
  EXPECT_EQ(error_with(12, 64, 4), name + ": found a header of 64 bytes; expected 32");
  EXPECT_EQ(error_with(16, (std::uint64_t{1} << 62) - 1, 8), "");
  EXPECT_EQ(error_with(16, std::uint64_t{1} << 62, 8),
            name + ": found a time beyond all times; expected nanoseconds since 1970 below 2^62");
  save(path, std::vector<std::uint8_t>(whole.begin(), whole.begin() + capture_header_bytes - 1));
  EXPECT_EQ(input_error([&] { const CaptureReader reader(path); }),
            name + ": found another beginning; expected that of a capture (\"EFCAPTUR\")");
  EXPECT_EQ(input_error([&] { const CaptureReader reader(scratch.path()); }),
            scratch.path().string() + ": found Is a directory; expected a file that can be read");
}

}  // namespace
}  // namespace echoform::test
