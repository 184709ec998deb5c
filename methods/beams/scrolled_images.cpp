#include "methods/beams/scrolled_images.hpp"

#include <string>
#include <utility>

#include "methods/shown_images.hpp"
#include "stages/line_spectrum/line_spectrum.hpp"
#include "stages/scroll/scroll.hpp"

namespace echoform {
namespace {

/// Adds the rows of `block`, scrolled, as numbers and in decibels.
void add_scrolled(Recipe& recipe, const BeamsPlan& plan, const ScrollingPlan& scrolling, std::size_t block,
                  OutputDescription image) {
  const std::size_t scrolled = recipe.add(scroll_stage, scrolling.scroll, {block});
  image.grid.z = scrolling.time_axis();
  image.z = {"time", "s"};
  add_shown_image(recipe, image, scrolled, plan.compression, plan.wish.display ? ShownLevels::all : ShownLevels::none,
                  [&](std::size_t compressed) {
                    OutputDescription display = image;
                    display.kind = OutputKind::display;
                    return RecipeOutput{std::move(display), compressed};
                  });
}

}  // namespace

void add_m_mode(Recipe& recipe, const BeamsPlan& plan, std::size_t envelope) {
  if (!plan.m_mode) return;
  OutputDescription image{std::string(m_mode_image), OutputKind::envelope, {}};
  image.grid.x = polar_grid(plan).x;
  image.x = {"range", "m"};
  add_scrolled(recipe, plan, *plan.m_mode, envelope, std::move(image));
}

void add_spectrum(Recipe& recipe, const BeamsPlan& plan, std::size_t samples) {
  if (!plan.spectrum) return;
  OutputDescription image{std::string(spectrum_image), OutputKind::envelope, {}};
  image.grid.x = plan.spectrum->velocities;
  image.x = {"velocity", "m/s"};
  const std::size_t spectra = recipe.add(line_spectrum_stage, plan.spectrum->spectrum, {samples});
  add_scrolled(recipe, plan, plan.spectrum->scrolling, spectra, std::move(image));
}

}  // namespace echoform
