#include "engines/group_imager.hpp"

#include <algorithm>
#include <utility>

#include "cpu/cpu_backend.hpp"
#include "engines/after_images.hpp"
#include "engines/cpu_group_imager.hpp"
#include "engines/cuda_group_imager.hpp"
#include "engines/engine_registry.hpp"
#include "engines/runner.hpp"
#include "pipeline/setup_memory.hpp"

namespace echoform {

GroupImager::GroupImager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice)
    : setup_(std::move(setup)), groups_(*setup_->groups), choice_(choice) {
  const auto group = groups_.setup(0);
  for (const RecipeOutput& output : group->recipe.outputs) {
    const std::size_t pixels = output.description.grid.pixels();
    images_.push_back({output.description.view, std::vector<std::complex<float>>(pixels), std::vector<float>(pixels)});
  }
}

void GroupImager::take_buffers(std::size_t read_ahead, const std::function<Buffer(std::size_t bytes)>& allocate) {
  const std::size_t buffers = std::max(least_read_ahead, std::min(read_ahead, groups_.count()));
  while (read_.size() < buffers) read_.push_back(allocate(groups_.setup(0)->acquisition.frame_bytes()));
}

void GroupImager::image(const Read& read, const Progress& progress, const Expect& expect) {
  invalid_samples_ = 0;
  sum(read, progress, expect);
  finish();
}

void GroupImager::finish() {
  const auto backend = make_cpu_backend(choice_.threads, choice_.pin);
  const auto queue = backend->make_queue();
  std::vector<std::string> summed;
  for (SummedImage& image : images_) {
    if (image.analytic.empty()) continue;  // made of other images, below
    summed.push_back(image.view);
    const Recipe recipe = groups_.finish(image.view);
    Runner runner(recipe, image_block(ElementType::complex64, recipe.outputs.at(0).description.grid), *backend);
    runner.allocate_blocks();
    std::vector<void*> places = runner.places();
    places[0] = image.analytic.data();
    places[recipe.outputs.at(0).block] = image.envelope.data();
    runner.run(places, *queue, [](std::size_t, const auto& work) { work(); });
    queue->finish();
  }
  for (const std::string_view view : setup_->recipe.views()) {
    const bool made = std::ranges::find(summed, view) == summed.end() && setup_->recipe.find(view, OutputKind::envelope);
    if (made) make_of_others(view, summed, *backend, *queue);
  }
}

void GroupImager::make_of_others(std::string_view view, const std::vector<std::string>& summed, Backend& backend,
                                 ExecutionQueue& queue) {
  const AfterImages after = after_images(setup_->recipe, summed, view, false);
  const auto is_it = [&](const SummedImage& image) { return image.view == view; };
  if (std::ranges::none_of(images_, is_it)) images_.push_back({std::string(view), {}, {}});
  SummedImage& made = *std::ranges::find_if(images_, is_it);
  const RecipeOutput& envelope = after.recipe.outputs.back();
  made.envelope.resize(envelope.description.grid.pixels());
  Runner runner(after.recipe, image_block(ElementType::float32, envelope.description.grid), backend);
  runner.allocate_blocks();
  std::vector<void*> places = runner.places();
  for (std::size_t k = 0; k < after.images.size(); ++k) places[k + 1] = images_[after.images[k]].envelope.data();
  places[envelope.block] = made.envelope.data();
  runner.run(places, queue, [](std::size_t, const auto& work) { work(); });
  queue.finish();
}

std::unique_ptr<GroupImager> make_group_imager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                               std::size_t read_ahead) {
#ifdef ECHOFORM_WITH_CUDA
  if (decide_backend(choice).kind == BackendKind::cuda) return make_cuda_group_imager(std::move(setup), choice, read_ahead);
#else
  static_cast<void>(decide_backend(choice));
#endif
  return make_cpu_group_imager(std::move(setup), choice, read_ahead);
}

}  // namespace echoform
