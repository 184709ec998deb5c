#include "transport/publish/image_message.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "base/errors.hpp"
#include "tests/transport_publish/synthetic_stream.hpp"
#include "tests/transport_publish/thread_allocations.hpp"

namespace echoform {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string message_of(ImageMessageWriter& writer, const FinishedFrame& frame, std::size_t index) {
  std::string message(writer.prepare(frame, index), '\0');
  if (!message.empty()) writer.write(std::as_writable_bytes(std::span(message.data(), message.size())));
  return message;
}

std::vector<std::string> names(const ImagingSetup& setup) {
  std::vector<std::string> list;
  for (const auto& stream : describe_streams(setup, "echoform")) list.push_back(stream.name);
  return list;
}

TEST(ImageStreams, AreNamedAfterTheServerAndWhereThereAreSeveralAfterTheView) {
  synthetic::Shape shape;
  EXPECT_THAT(names(*synthetic::Stream(shape).setup()), ::testing::ElementsAre("echoform", "echoform.display"));
  shape.views = {"LL", "TT-T"};
  EXPECT_THAT(names(*synthetic::Stream(shape).setup()),
              ::testing::ElementsAre("echoform/LL", "echoform/LL.display", "echoform/TT-T", "echoform/TT-T.display"));
}

TEST(ImageStreams, RefuseNamesThatCouldNotBeToldApart) {
  EXPECT_NO_THROW(validate_stream_name("weld-3_a", "x"));
  for (const char* bad : {"", "a b", "a/b", "a.display", "\xC3\xA4"}) {
    EXPECT_THROW(validate_stream_name(bad, "[server] stream"), InputError) << bad;
  }
  EXPECT_THROW(ImageMessageWriter("echoform", {.envelope = false, .display = false}), InputError);
}

TEST(ImageMessage, StockParserReadsEveryField) {
  synthetic::Stream stream;
  stream.paint_spot(Metres(0.004), Metres(0.020));
  ImageMessageWriter writer("echoform");
  writer.set_setup(*stream.setup());
  stream.slot().outputs[0].reference = 0.75F;
  stream.slot().clipped_samples = 7;
  const FinishedFrame frame = stream.frame(41);
  const std::string message = message_of(writer, frame, 0);
  ASSERT_LE(message.size(), writer.capacity());
  EXPECT_THAT(message, StartsWith(stream_prefix("echoform")));

  wire::Image image;
  ASSERT_TRUE(image.ParseFromString(message));
  EXPECT_EQ(image.stream(), "echoform");
  EXPECT_EQ(image.sequence(), 41u);
  EXPECT_EQ(image.view(), "LL");
  EXPECT_EQ(image.acquisition_time(), 1'700'000'000'000'000'000u);
  EXPECT_EQ(image.publish_time(), 1'700'000'000'100'000'000u);
  EXPECT_EQ(image.latency(), 4'000'000u);
  EXPECT_DOUBLE_EQ(image.x().first(), -0.020);
  EXPECT_DOUBLE_EQ(image.z().last(), 0.035);
  EXPECT_EQ(image.x().count(), 41u);
  EXPECT_FALSE(image.has_y());
  EXPECT_EQ(image.encoding(), wire::ENVELOPE_FLOAT32);
  EXPECT_DOUBLE_EQ(image.dynamic_range_db(), 40.0);
  EXPECT_DOUBLE_EQ(image.reference(), 0.75);
  ASSERT_EQ(image.stages_size(), 2);
  EXPECT_EQ(image.stages(1).stage(), "beamform");
  EXPECT_EQ(image.stages(1).nanoseconds(), 8'300'000u);
  ASSERT_EQ(image.drops_size(), 1);
  EXPECT_EQ(image.drops(0).reason(), "incomplete");
  EXPECT_EQ(image.drops(0).frames(), 2u);
  EXPECT_EQ(image.published(), 1u);
  EXPECT_EQ(image.clipped_samples(), 7u);
  ASSERT_EQ(image.pixels().size(), 41u * 31u * sizeof(float));
  EXPECT_EQ(std::memcmp(image.pixels().data(), stream.slot().outputs[0].data.data(), image.pixels().size()), 0);

  ASSERT_TRUE(image.ParseFromString(message_of(writer, frame, 1)));
  EXPECT_EQ(image.stream(), "echoform.display");
  EXPECT_EQ(image.encoding(), wire::DISPLAY_UINT8);
  EXPECT_EQ(image.pixels().size(), 41u * 31u);
}

TEST(ImageMessage, CarriesThePositionOfItsFrameAndNoneWhereItHadNone) {
  synthetic::Stream stream;
  ImageMessageWriter writer("echoform");
  writer.set_setup(*stream.setup());
  std::uint64_t sequence = 0;
  for (const std::optional<EncoderCount> position :
       {std::optional<EncoderCount>(), std::optional<EncoderCount>(0), std::optional<EncoderCount>(-41),
        std::optional<EncoderCount>(), std::optional<EncoderCount>(std::numeric_limits<EncoderCount>::max())}) {
    stream.slot().position = position;
    for (const std::size_t index : {0U, 1U}) {
      const std::string message = message_of(writer, stream.frame(++sequence), index);
      wire::Image image;
      ASSERT_EQ(parse_image(bytes_of(message), image), std::nullopt);
      EXPECT_EQ(image.has_position(), position.has_value());
      EXPECT_EQ(image.position(), position.value_or(0));
      EXPECT_EQ(image.SerializeAsString(), message);
    }
  }
}

TEST(ImageMessage, IsTheSameBytesAsOneSerialisedWhole) {
  synthetic::Stream stream;
  stream.paint_spot(Metres(0.0), Metres(0.01));
  ImageMessageWriter writer("echoform");
  writer.set_setup(*stream.setup());
  const std::string message = message_of(writer, stream.frame(3), 0);
  wire::Image image;
  ASSERT_TRUE(image.ParseFromString(message));
  EXPECT_EQ(image.SerializeAsString(), message);
}

TEST(ImageMessage, CarriesTheSetupsOutlines) {
  synthetic::Stream stream;
  auto setup = std::make_shared<ImagingSetup>(*stream.setup());
  for (std::size_t line = 0; line < most_outlines; ++line) {
    Outline outline{
        .name = "surface", .x = std::vector<float>(most_outline_points), .z = std::vector<float>(most_outline_points, 0.02F)};
    std::iota(outline.x.begin(), outline.x.end(), static_cast<float>(line));
    setup->outlines.push_back(std::move(outline));
  }
  ImageMessageWriter writer("echoform");
  writer.set_setup(*setup);
  for (const std::uint64_t sequence : {1, 2}) {
    const std::string message = message_of(writer, stream.frame(sequence), 0);
    ASSERT_LE(message.size(), writer.capacity());
    wire::Image image;
    // The most that there can be is still a head that subscribers take.
    ASSERT_EQ(parse_image(bytes_of(message), image), std::nullopt);
    ASSERT_EQ(image.outlines_size(), static_cast<int>(most_outlines));
    EXPECT_EQ(image.outlines(3).name(), "surface");
    EXPECT_EQ(image.outlines(3).x_size(), static_cast<int>(most_outline_points));
    EXPECT_EQ(image.outlines(3).x(5), 8.0F);
    EXPECT_EQ(image.outlines(3).z(255), 0.02F);
  }
  writer.set_setup(*stream.setup());
  wire::Image image;
  ASSERT_TRUE(image.ParseFromString(message_of(writer, stream.frame(3), 0)));
  EXPECT_EQ(image.outlines_size(), 0);
}

TEST(ImageMessage, SaysWhatItsNumbersAreWhereTheyAreNotTheUsualOnes) {
  synthetic::Stream stream;
  auto setup = std::make_shared<ImagingSetup>(*stream.setup());
  ImageMessageWriter writer("echoform");
  writer.set_setup(*setup);
  wire::Image image;
  ASSERT_TRUE(image.ParseFromString(message_of(writer, stream.frame(1), 0)));
  EXPECT_EQ(image.pixel_name() + image.pixel_unit() + image.x().name() + image.x().unit() + image.z().name() + image.z().unit(),
            "");
  OutputDescription& output = setup->recipe.outputs[0].description;
  output.pixels = {"absorbed energy", "J/m^3"};
  output.x = {"angle", "degrees"};
  output.z = {"range", "m"};
  writer.set_setup(*setup);
  const std::string message = message_of(writer, stream.frame(2), 0);
  ASSERT_LE(message.size(), writer.capacity());
  ASSERT_EQ(parse_image(bytes_of(message), image), std::nullopt);
  EXPECT_EQ(image.pixel_name(), "absorbed energy");
  EXPECT_EQ(image.pixel_unit(), "J/m^3");
  EXPECT_EQ(image.x().name(), "angle");
  EXPECT_EQ(image.x().unit(), "degrees");
  EXPECT_EQ(image.z().name(), "range");
  EXPECT_FALSE(image.z().has_unit());
  output.z = {"line", ""};
  writer.set_setup(*setup);
  const std::string numbered = message_of(writer, stream.frame(3), 0);
  ASSERT_EQ(parse_image(bytes_of(numbered), image), std::nullopt);
  EXPECT_TRUE(image.z().has_unit() && image.z().unit().empty()) << "no unit is not metres";
}

TEST(ImageMessage, SaysHowFarPixelsGoAndWhereLinesLie) {
  synthetic::Stream stream;
  auto setup = std::make_shared<ImagingSetup>(*stream.setup());
  ImageMessageWriter writer("echoform");
  wire::Image image;
  writer.set_setup(*setup);
  ASSERT_TRUE(image.ParseFromString(message_of(writer, stream.frame(1), 0)));
  EXPECT_FALSE(image.has_lines());
  EXPECT_EQ(image.pixel_limit(), 0.0);
  OutputDescription& output = setup->recipe.outputs[0].description;
  output.limit = 0.308;
  output.lines = LineGeometry{Metres(0.001), Metres(-0.04), Metres(0.05), 0.25};
  writer.set_setup(*setup);
  const std::string message = message_of(writer, stream.frame(2), 0);
  ASSERT_LE(message.size(), writer.capacity());
  ASSERT_EQ(parse_image(bytes_of(message), image), std::nullopt);
  EXPECT_EQ(image.pixel_limit(), 0.308);
  EXPECT_EQ(image.lines().apex_x(), 0.001);
  EXPECT_EQ(image.lines().apex_z(), -0.04);
  EXPECT_EQ(image.lines().radius(), 0.05);
  EXPECT_EQ(image.lines().angle(), 0.25);
  // The display image of the same frame is no array of lines.
  ASSERT_EQ(parse_image(bytes_of(message_of(writer, stream.frame(2), 1)), image), std::nullopt);
  EXPECT_FALSE(image.has_lines());
  EXPECT_EQ(image.pixel_limit(), 0.0);
}

TEST(ImageMessage, RefusesPixelsThatAreLimitedToNoNumber) {
  synthetic::Stream stream;
  ImageMessageWriter writer("echoform");
  writer.set_setup(*stream.setup());
  wire::Image image;
  ASSERT_TRUE(image.ParseFromString(message_of(writer, stream.frame(1), 0)));
  image.set_pixel_limit(-0.1);
  wire::Image again;
  EXPECT_EQ(parse_image(bytes_of(image.SerializeAsString()), again), "pixels are limited to -0.1");
  image.set_pixel_limit(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(parse_image(bytes_of(image.SerializeAsString()), again), "pixels are limited to nan");
}

TEST(ImageMessage, SaysHowItsNumbersAreShown) {
  synthetic::Stream stream;
  auto setup = std::make_shared<ImagingSetup>(*stream.setup());
  ImageMessageWriter writer("echoform");
  stream.slot().outputs[0].reference = 0.75F;
  stream.slot().outputs[1].reference = 0.75F;
  wire::Image image;
  for (const ValueScale& scale : {ValueScale{}, ValueScale{ScaleKind::power_decibels}, ValueScale{ScaleKind::symmetric, 0.308},
                                  ValueScale{ScaleKind::from_zero, 1.0, true}, ValueScale{ScaleKind::symmetric}}) {
    for (RecipeOutput& output : setup->recipe.outputs) output.description.scale = scale;
    writer.set_setup(*setup);
    for (const std::size_t index : {0U, 1U}) {
      const std::string message = message_of(writer, stream.frame(1), index);
      ASSERT_EQ(parse_image(bytes_of(message), image), std::nullopt);
      EXPECT_EQ(scale_of(image).kind, scale.kind);
      EXPECT_EQ(scale_of(image).masked, scale.masked);
      // The end of a scale is what the frame says, unless it is always the same.
      EXPECT_EQ(image.reference(), scale.end > 0.0 ? scale.end : 0.75);
    }
  }
  const std::string sound = image.SerializeAsString();
  image.set_pixel_scale(static_cast<wire::PixelScale>(7));
  wire::Image again;
  EXPECT_EQ(parse_image(bytes_of(image.SerializeAsString()), again), "unknown pixel scale 7");
  ASSERT_TRUE(image.ParseFromString(sound));
  image.set_reference(std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_image(bytes_of(image.SerializeAsString()), again), "a reference of inf");
}

TEST(ImageMessage, SaysWhereItsPlaneLies) {
  synthetic::Stream stream;
  auto setup = std::make_shared<ImagingSetup>(*stream.setup());
  setup->recipe.outputs[0].description.grid.y = {Metres(0.004), Metres(0.004), 1};
  ImageMessageWriter writer("echoform");
  writer.set_setup(*setup);
  wire::Image image;
  ASSERT_EQ(parse_image(bytes_of(message_of(writer, stream.frame(1), 0)), image), std::nullopt);
  EXPECT_EQ(grid_of(image), setup->recipe.outputs[0].description.grid);
  image.set_plane_y(std::numeric_limits<double>::quiet_NaN());
  wire::Image again;
  EXPECT_EQ(parse_image(bytes_of(image.SerializeAsString()), again), "a plane at y = nan");
}

TEST(ImageMessage, LeavesOutWhatTheFrameDoesNotHold) {
  synthetic::Stream stream;
  ImageMessageWriter writer("echoform");
  writer.set_setup(*stream.setup());
  stream.slot().outputs[1].data = Buffer();
  EXPECT_GT(writer.prepare(stream.frame(1), 0), 0u);
  EXPECT_EQ(writer.prepare(stream.frame(1), 1), 0u);
  EXPECT_EQ(writer.prepare(stream.frame(1), 2), 0u);
  stream.slot().outputs[0].data = synthetic::make_buffer(12);
  EXPECT_EQ(writer.prepare(stream.frame(1), 0), 0u);
}

TEST(ImageMessage, DisplayHasItsOwnGrid) {
  synthetic::Stream stream;
  auto setup = std::make_shared<ImagingSetup>(*stream.setup());
  setup->recipe.outputs[1].description.grid = {{Metres(-0.01), Metres(0.01), 11}, {Metres(0.005), Metres(0.015), 7}, {}};
  ImageMessageWriter writer("echoform");
  writer.set_setup(*setup);
  wire::Image image;
  ASSERT_TRUE(image.ParseFromString(message_of(writer, stream.frame(1), 1)));
  EXPECT_EQ(image.x().count(), 11u);
  EXPECT_EQ(image.pixels().size(), 77u);
}

TEST(ImageMessage, WritingAllocatesNothing) {
  synthetic::Shape shape;
  shape.views = {"LL", "a view whose name is too long for the small strings of the library"};
  synthetic::Stream stream(shape);
  ImageMessageWriter writer("echoform");
  writer.set_setup(*stream.setup());
  std::vector<std::byte> memory(writer.capacity());
  stream.slot().timings.reserve(5);
  const std::size_t before = thread_allocations();
  for (std::uint64_t sequence = 1; sequence <= 20; ++sequence) {
    if (sequence == 10) stream.slot().timings.resize(5, {"more than there ever were"});
    const FinishedFrame frame = stream.frame(sequence);
    for (std::size_t i = 0; i < writer.streams().size(); ++i) writer.write({memory.data(), writer.prepare(frame, i)});
  }
  EXPECT_EQ(thread_allocations() - before, 0u);
}

TEST(StreamPrefix, SelectsOneStreamOnly) {
  EXPECT_EQ(stream_prefix("echoform"), std::string("\x0A\x08"
                                                   "echoform"));
  EXPECT_THAT(stream_prefix("echoform.display"), ::testing::Not(StartsWith(stream_prefix("echoform"))));
  const std::string longer(200, 'a');
  wire::Image image;
  image.set_stream(longer);
  EXPECT_THAT(image.SerializeAsString(), StartsWith(stream_prefix(longer)));
}

wire::Image good_image() {
  wire::Image image;
  image.set_stream("echoform");
  image.set_encoding(wire::DISPLAY_UINT8);
  for (wire::Axis* axis : {image.mutable_x(), image.mutable_z()}) {
    axis->set_first(0.0);
    axis->set_last(0.01);
    axis->set_count(4);
  }
  image.set_pixels(std::string(16, 'p'));
  return image;
}

std::string fault_of(const wire::Image& image) {
  wire::Image parsed;
  return parse_image(bytes_of(image.SerializeAsString()), parsed).value_or("");
}

TEST(ParseImage, TakesAGoodMessage) {
  EXPECT_EQ(fault_of(good_image()), "");
}

TEST(ParseImage, SaysWhatIsWrong) {
  auto image = good_image();
  image.clear_stream();
  EXPECT_EQ(fault_of(image), "no stream name");
  image = good_image();
  image.mutable_pixels()->pop_back();
  EXPECT_EQ(fault_of(image), "15 bytes of pixels where the geometry says 16");
  image = good_image();
  image.set_encoding(wire::ENVELOPE_FLOAT32);
  EXPECT_EQ(fault_of(image), "16 bytes of pixels where the geometry says 64");
  image = good_image();
  image.set_encoding(static_cast<wire::PixelEncoding>(9));
  EXPECT_EQ(fault_of(image), "unknown pixel encoding 9");
  image = good_image();
  image.mutable_z()->set_count(0);
  EXPECT_EQ(fault_of(image), "axis z has no pixels");
  image = good_image();
  image.mutable_x()->set_last(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(fault_of(image), StartsWith("axis x runs from 0"));
  image = good_image();
  image.mutable_x()->set_last(-1.0);
  EXPECT_THAT(fault_of(image), StartsWith("axis x runs from 0"));
}

TEST(ParseImage, CountsWhoseProductOverflowsAreNoGeometry) {
  auto image = good_image();
  image.mutable_x()->set_count(0x80000000u);
  image.mutable_z()->set_count(0x80000000u);
  image.mutable_y()->set_last(1.0);
  image.mutable_y()->set_count(4);  // 2^31 * 2^31 * 4 = 2^64
  image.clear_pixels();
  EXPECT_THAT(fault_of(image), HasSubstr("0 bytes of pixels where the geometry says"));
}

TEST(ParseImage, EveryTruncationIsRefused) {
  const std::string whole = good_image().SerializeAsString();
  wire::Image parsed;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_TRUE(parse_image(bytes_of(whole.substr(0, length)), parsed)) << length;
  }
}

TEST(ParseImage, EveryChangedByteIsRefusedOrStillConsistent) {
  const std::string whole = good_image().SerializeAsString();
  wire::Image parsed;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[place] = static_cast<char>(value);
      if (parse_image(bytes_of(changed), parsed)) continue;
      EXPECT_EQ(parsed.pixels().size() % (std::size_t{parsed.x().count()} * parsed.z().count()), 0u) << place;
    }
  }
}

TEST(ParseImage, AMessageThatIsNearlyAllHeadIsRefusedBeforeItIsBuilt) {
  std::string flood = good_image().SerializeAsString();
  for (int i = 0; i < 100'000; ++i) flood += std::string("\x72\x00", 2);  // an empty StageDuration
  wire::Image parsed;
  const std::size_t before = thread_allocations();
  EXPECT_EQ(parse_image(bytes_of(flood), parsed).value_or(""), "not an Image message");
  EXPECT_LT(thread_allocations() - before, 20u);
}

}  // namespace
}  // namespace echoform
