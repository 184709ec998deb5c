// What figures show of images whose axes are not those of a plane of the part.
#include "offline/display_figure.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "apps/last_image.hpp"
#include "tests/transport_publish/synthetic_stream.hpp"

namespace echoform {
namespace {

const Meaning range{"range", "m"};
const Meaning angle{"angle", "rad"};

Recipe recipe_of(const Meaning& across, const Meaning& down, const Meaning& shown_across = {"x", "m"},
                 const Meaning& shown_down = {"z", "m"}) {
  OutputDescription envelope{"lines", OutputKind::envelope, Grid{}};
  envelope.x = across;
  envelope.z = down;
  OutputDescription display{"lines", OutputKind::display, Grid{}};
  display.x = shown_across;
  display.z = shown_down;
  Recipe recipe;
  recipe.outputs.push_back({envelope});
  recipe.outputs.push_back({display});
  return recipe;
}

TEST(DisplayFigure, IsForEnvelopesWhoseAxesAreOthers) {
  EXPECT_EQ(display_for_figures(recipe_of(range, angle), "lines"), 1u) << "a sector";
  EXPECT_EQ(display_for_figures(recipe_of(range, {"x", "m"}), "lines"), 1u) << "parallel lines: metres, yet turned";
  EXPECT_EQ(display_for_figures(recipe_of({"x", "m"}, {"z", "m"}), "lines"), std::nullopt);
  const Meaning lateral{"lateral", "m"};
  const Meaning depth{"depth", "m"};
  EXPECT_EQ(display_for_figures(recipe_of(lateral, depth, lateral, depth), "lines"), std::nullopt) << "names of its own in both";
  EXPECT_EQ(display_for_figures(recipe_of(range, angle), "LL"), std::nullopt) << "no such view";
  Recipe alone = recipe_of(range, angle);
  alone.outputs.pop_back();
  EXPECT_EQ(display_for_figures(alone, "lines"), std::nullopt) << "no display image";
}

TEST(DisplayFigure, TellsAPlaneOfThePart) {
  EXPECT_TRUE(is_plane_of_part({"x", "m"}, {"z", "m"}));
  EXPECT_FALSE(is_plane_of_part(range, angle));
  EXPECT_FALSE(is_plane_of_part(range, {"x", "m"}));
}

TEST(DisplayFigure, LevelsOfNumbersAreNumbers) {
  ImageFile file;
  file.grid.x.count = 4;
  file.scale = {ScaleKind::symmetric, 0.254};
  file.gain_db = 6.0;
  std::vector<float> values;
  const std::array levels{std::byte{0}, std::byte{1}, std::byte{128}, std::byte{255}};
  show_levels(file, levels, values);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_FLOAT_EQ(values[1], -0.254F);
  EXPECT_EQ(values[2], 0.0F);
  EXPECT_FLOAT_EQ(values[3], 0.254F);
  EXPECT_EQ(file.scale.end, 0.254);
  file.scale = {ScaleKind::from_zero, 1.0, true};
  show_levels(file, levels, values);
  EXPECT_EQ(values[1], 0.0F);
  EXPECT_FLOAT_EQ(values[2], 0.5F);
}

TEST(DisplayFigure, PixelsAreDescribedByTheirScale) {
  OutputDescription image;
  image.scale = {ScaleKind::symmetric};
  const auto described = [&](const DisplayScale& scale, double reference) {
    ImageFile file;
    describe_pixels(file, image, scale, reference);
    return file;
  };
  EXPECT_EQ(described({}, 0.25).scale.end, 0.25);
  EXPECT_EQ(described({40.0, 20.0, 2.0}, 0.0).scale.end, 0.2) << "a fixed reference, less the gain";
  EXPECT_EQ(described({}, 0.0).scale.end, 0.0) << "the image's own peak";
  image.scale.end = 0.308;
  EXPECT_EQ(described({40.0, 20.0, 2.0}, 0.25).scale.end, 0.308);
  image.scale = {ScaleKind::power_decibels};
  EXPECT_EQ(described({40.0, 0.0, 2.0}, 0.0).reference, 4.0) << "a fixed reference is one of amplitudes";
  image.scale = {};
  EXPECT_EQ(described({40.0, 0.0, 2.0}, 0.0).reference, 2.0);
  EXPECT_EQ(described({40.0, 0.0, 2.0}, 0.5).reference, 0.5);
}

TEST(DisplayFigure, LevelsAreDecibelsBelowTheBrightest) {
  ImageFile file;
  file.grid.x.count = 4;
  file.dynamic_range_db = 51.0;  // 0.2 dB a level
  file.gain_db = 6.0;
  std::vector<float> values;
  const std::array levels{std::byte{255}, std::byte{254}, std::byte{155}, std::byte{0}};
  show_levels(file, levels, values);
  ASSERT_EQ(file.envelope.size(), 4u);
  const std::array decibels{0.0, -0.2, -20.0, -51.0};
  // Half a millionth of an amplitude in float32 is far below 1e-4 dB.
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(20.0 * std::log10(static_cast<double>(file.envelope[k])), decibels[k], 1e-4);
  EXPECT_EQ(file.reference, 1.0);
  EXPECT_EQ(file.gain_db, 0.0) << "it is in the levels already";
}

TEST(DisplayFigure, TheLastImageGivesFiguresTheDisplayAndFilesTheEnvelope) {
  synthetic::Stream stream;
  stream.paint_spot(Metres(0.004), Metres(0.020));
  auto setup = std::make_shared<ImagingSetup>(*stream.setup());
  const auto display = setup->recipe.find("LL", OutputKind::display).value();
  const auto envelope = setup->recipe.find("LL", OutputKind::envelope).value();
  OutputDescription& polar = setup->recipe.outputs[envelope].description;
  polar.x = range;
  polar.z = angle;
  LastImage last;
  last.setup_changed(setup);
  last.publish(stream.frame(1, SteadyTime(0), WallTime(0)));
  const ImageFile numbers = last.file(0);
  EXPECT_EQ(numbers.x, range);
  EXPECT_EQ(numbers.z, angle);
  const auto* const pixels = static_cast<const float*>(stream.slot().outputs[envelope].data.data());
  EXPECT_EQ(numbers.envelope[7], pixels[7]);
  const ImageFile figure = last.file(0, true);
  EXPECT_TRUE(is_plane_of_part(figure.x, figure.z));
  EXPECT_EQ(figure.grid, setup->recipe.outputs[display].description.grid);
  const auto* const levels = static_cast<const unsigned char*>(stream.slot().outputs[display].data.data());
  for (const std::size_t k : {std::size_t{0}, std::size_t{7}, figure.grid.pixels() - 1}) {
    const double level = 20.0 * std::log10(static_cast<double>(figure.envelope[k])) / figure.dynamic_range_db + 1.0;
    EXPECT_NEAR(255.0 * level, static_cast<double>(levels[k]), 1e-3) << k;
  }
}

}  // namespace
}  // namespace echoform
