#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "acquisition/frame_layout.hpp"
#include "base/directions.hpp"
#include "methods/optoacoustic_images.hpp"
#include "methods/shown_images.hpp"
#include "methods/tomography/plan.hpp"
#include "methods/wavelength_name.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"
#include "stages/deconvolution/deconvolution.hpp"
#include "stages/filter/filter.hpp"
#include "stages/mean_image/mean_image.hpp"
#include "stages/pairing/pairing.hpp"
#include "stages/unmixed_image/unmixed_image.hpp"
#include "stages/unmixing/unmixing.hpp"

namespace echoform {
namespace {

Seconds start_of_samples(const TomographyPlan& plan) {
  const Acquisition& acquisition = plan.acquisition;
  return acquisition.start_time - acquisition.time_offset +
         Seconds(static_cast<double>(plan.gate.first) / acquisition.sample_rate.value);
}

/// The weight of each detector: its part of the whole, times the algorithm's factor before its sum.
std::vector<double> projection_weights(const TomographyPlan& plan, const WavelengthPlan& image) {
  const DetectorShares& shares = image.shares;
  const bool actual = plan.section.normalise == ShareDivisor::actual;
  std::vector<double> weights = shares.sizes;
  switch (plan.section.algorithm) {
    case TomographyAlgorithm::fbp: {
      // For a whole sphere, p0 = -1 / (2 pi R) times the sum of areas and terms, which is -2 R times the mean over the solid
      // angle. For a ring it is the same, in relative units.
      const double radius = plan.surface.radius.value;
      const double angles = plan.surface.flat ? radius : radius * radius;
      const double whole = actual ? shares.angle : shares.whole;
      for (double& weight : weights) weight *= -2.0 * radius / (angles * whole);
      break;
    }
    case TomographyAlgorithm::ubp:
      for (double& weight : weights) weight /= shares.whole;
      break;
    case TomographyAlgorithm::delay_and_sum:
      // Dead detectors count, as everywhere.
      std::ranges::fill(weights, 1.0 / static_cast<double>(image.declared));
      break;
  }
  return weights;
}

BackProjectionOptions projection_options(const TomographyPlan& plan, const WavelengthPlan& image) {
  const TomographySection& section = plan.section;
  BackProjectionOptions options;
  options.grid = plan.grid;
  const std::vector<double> weights = projection_weights(plan, image);
  auto detectors = std::make_shared<std::vector<ProjectionDetector>>();
  for (std::size_t q = 0; q < weights.size(); ++q) {
    detectors->push_back({image.first_row + q, image.detectors[q].centre, image.detectors[q].normal, weights[q]});
  }
  options.detectors = std::move(detectors);
  if (section.algorithm == TomographyAlgorithm::ubp) {
    options.law = plan.surface.flat ? ProjectionLaw::inverse_square : ProjectionLaw::inverse_cube;
  }
  options.velocity = plan.velocity;
  options.sample_rate = plan.acquisition.sample_rate;
  options.start_time = start_of_samples(plan);
  options.inclusion = plan.object;
  options.cosine_power = section.directivity_power;
  if (section.directivity_angle) {
    options.least_cosine = std::max(0.0, std::cos(*section.directivity_angle * std::numbers::pi / 180.0));
  }
  // Filtered backprojection has an ideal weight for each voxel in its term, where it is a factor for all detectors.
  options.normalise = section.normalise == ShareDivisor::actual && section.algorithm != TomographyAlgorithm::fbp;
  return options;
}

/// Adds the steps from raw samples to the terms that are projected back.
std::size_t add_terms(Recipe& recipe, const TomographyPlan& plan) {
  PairingOptions pairing{plan.acquisition.a_scans(), nullptr, plan.amplitude_scale()};
  auto sources = std::make_shared<std::vector<PairSource>>();
  const std::vector<EventReceiver> pairs = FrameLayout(plan.acquisition).pairs();
  for (const WavelengthPlan& image : plan.wavelengths) {
    for (const std::size_t row : image.rows)
      sources->push_back({row, row, plan.event_gains.empty() ? 1.0F : plan.event_gains[pairs[row].event]});
  }
  pairing.sources = std::move(sources);
  std::size_t rows = recipe.add(pairing_stage, std::move(pairing), {0});
  if (plan.filter.kind != FilterKind::none) rows = recipe.add(filter_stage, plan.filter, {rows});
  if (plan.deconvolution) rows = recipe.add(deconvolution_stage, *plan.deconvolution, {rows});
  if (plan.section.algorithm == TomographyAlgorithm::delay_and_sum) return rows;
  BackProjectionTermOptions term;
  term.term = plan.section.algorithm == TomographyAlgorithm::fbp ? ProjectedTerm::filtered : ProjectedTerm::universal;
  term.velocity = plan.velocity;
  term.sample_rate = plan.acquisition.sample_rate;
  term.start_time = start_of_samples(plan);
  return recipe.add(back_projection_term_stage, term, {rows});
}

OutputDescription output_of(const TomographyPlan& plan, const std::string& name, ImageQuantity quantity) {
  OutputDescription description{name, OutputKind::envelope, plan.grid};
  description.pixels = std::move(quantity.pixels);
  description.scale = quantity.scale;
  return description;
}

/// Adds an image and its display; the image is the mean of `projected`.
void add_tomogram(Recipe& recipe, const TomographyPlan& plan, const std::string& name, const std::vector<std::size_t>& projected,
                  ImageQuantity (*quantity)(ShownPart) = initial_pressure) {
  const ShownPart shown = plan.section.shown;
  const bool as_it_is = projected.size() == 1 && shown == ShownPart::signed_values;
  const std::size_t image = as_it_is ? projected.front() : recipe.add(mean_image_stage, MeanImageOptions{shown}, projected);
  add_grid_image(recipe, output_of(plan, name, quantity(shown)), image,
                 display_of_plan(plan, plan.display_grid, plan.wish.display));
}

/// Adds the images of the components, and their saturation.
void add_unmixed(Recipe& recipe, const TomographyPlan& plan, const std::vector<std::size_t>& projected) {
  const UnmixingPlan& unmixing = *plan.unmixing;
  const std::size_t found = recipe.add(unmixing_stage, unmixing.options, projected);
  for (std::size_t m = 0; m < unmixing.components.size(); ++m) {
    const UnmixedImageOptions options{UnmixedKind::concentration, unmixing.components.size(), m, 0, 0.0};
    add_tomogram(recipe, plan, unmixing.components[m], {recipe.add(unmixed_image_stage, options, {found})}, concentration);
  }
  if (!unmixing.saturation) return;
  const std::size_t saturation = recipe.add(unmixed_image_stage, *unmixing.saturation, {found});
  add_grid_image(recipe, output_of(plan, std::string(saturation_image), oxygen_saturation()), saturation,
                 display_of_plan(plan, plan.display_grid, plan.wish.display));
}

Recipe make_tomography_recipe(const TomographyPlan& plan) {
  Recipe recipe;
  const std::size_t terms = add_terms(recipe, plan);
  std::vector<std::size_t> projected;
  for (const WavelengthPlan& image : plan.wavelengths) {
    projected.push_back(recipe.add(back_projection_stage, projection_options(plan, image), {terms}));
  }
  if (plan.shows_mean) add_tomogram(recipe, plan, std::string(tomogram), projected);
  for (std::size_t k = 0; k < projected.size(); ++k) {
    add_tomogram(recipe, plan, plan.wavelengths[k].image, {projected[k]});
  }
  if (plan.unmixing) add_unmixed(recipe, plan, projected);
  return recipe;
}

}  // namespace

const TomographyPlan& tomography_plan_of(const ImagingSetup& setup) {
  return plan_as<TomographyPlan>(setup);
}

std::shared_ptr<const ImagingSetup> make_tomography_setup(const std::shared_ptr<const TomographyPlan>& plan) {
  return make_setup(plan, tomography_name, plan->gate, make_tomography_recipe(*plan));
}

void TomographyPlan::take_display(const ImagingSettings& settings) {
  MethodPlan::take_display(settings);
  if (!unmixing) return;
  const UnmixingSection& wanted = echoform::unmixing(settings);
  unmixing->options.non_negative = wanted.non_negative;
  if (unmixing->saturation) unmixing->saturation->threshold = wanted.threshold;
}

}  // namespace echoform
