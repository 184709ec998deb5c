// echoform image: one frame of a recording into files.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <complex>
#include <filesystem>
#include <memory>
#include <span>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/crop_distance.hpp"
#include "apps/recorded_frame.hpp"
#include "base/errors.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/reached.hpp"
#include "methods/tfm/scene.hpp"
#include "methods/tfm/setup.hpp"
#include "pipeline/engine.hpp"

namespace echoform {
namespace {

struct ImageOptions {
  std::string input;
  std::string config;
  std::vector<std::string> outputs;
  std::string field = "envelope";
  std::string backend;
  std::int64_t frame = 0;
  bool crop_distance = false;
};

struct Output {
  std::filesystem::path path;
  std::string view;
  std::unique_ptr<ImageWriter> writer;
};

/// Every file to be written, checked before any work is done.
std::vector<Output> plan_outputs(const ImageOptions& options, const std::vector<std::string>& views) {
  std::vector<Output> outputs;
  for (const std::string& text : options.outputs) {
    for (const std::string& view : views) {
      Output output;
      output.path = views.size() == 1 ? std::filesystem::path(text) : with_view_name(text, view);
      output.view = view;
      output.writer = make_image_writer(output.path);
      for (const Output& other : outputs) {
        // The same view twice is a fault of the configuration, and refused with it.
        if (other.view == view && other.path.lexically_normal() == output.path.lexically_normal())
          throw InputError("--output", fmt::format("{} twice", output.path.string()), "each file once");
      }
      outputs.push_back(std::move(output));
    }
  }
  return outputs;
}

template <class Pixel>
std::span<const Pixel> pixels_of(const ImagingSetup& setup, const FrameSlot& slot, std::string_view view, OutputKind kind) {
  const auto output = setup.recipe.find(view, kind);
  if (!output) return {};
  return {static_cast<const Pixel*>(slot.outputs[*output].data.data()), setup.recipe.outputs[*output].description.grid.pixels()};
}

ImageFile describe_image(const ImagingSetup& setup, const FrameSlot& slot, std::string_view view, const ImageOptions& options) {
  ImageFile file;
  file.grid = setup.recipe.outputs[setup.recipe.find(view, OutputKind::envelope).value()].description.grid;
  file.envelope = pixels_of<float>(setup, slot, view, OutputKind::envelope);
  file.analytic = pixels_of<std::complex<float>>(setup, slot, view, OutputKind::complex_image);
  file.field = options.field == "analytic" ? ImageField::analytic : ImageField::envelope;
  file.title = fmt::format("{}, frame {}", std::filesystem::path(options.input).filename().string(), options.frame);
  file.view = view;
  file.dynamic_range_db = setup.scale.dynamic_range_db;
  file.gain_db = setup.scale.gain_db;
  if (setup.scale.fixed_reference) file.reference = *setup.scale.fixed_reference;
  return file;
}

void warn_of_unreached(const ImagingPlan& plan) {
  std::vector<double> shares;
  for (const DelayLaw& law : plan.laws) {
    shares.push_back(unreached_share(reached_pixels(law, plan.acquisition.probe, plan.grid)));
  }
  if (const auto warning = unreached_warning(plan, shares)) spdlog::warn("{}", *warning);
}

int image(const ImageOptions& options) {
  Configuration configuration = configuration_from(options.config);
  apply_backend_option(options.backend, configuration);
  if (options.field != "envelope" && options.field != "analytic") {
    throw InputError("--field", fmt::format("\"{}\"", options.field), "envelope or analytic");
  }
  const std::vector<Output> outputs = plan_outputs(options, configuration.imaging.views);

  settle_backend(configuration);

  ProgressBar progress(4);
  progress.step("reading");
  const auto recording = open_recording(options.input);
  const auto frame = static_cast<std::size_t>(options.frame);
  if (options.frame < 0 || frame >= recording->frames()) {
    throw InputError("--frame", fmt::format("{}", options.frame),
                     recording->frames() == 1 ? fmt::format("0, as {} holds one frame", options.input)
                                              : fmt::format("0 to {}, as {} holds {} frames", recording->frames() - 1,
                                                            options.input, recording->frames()));
  }
  const Acquisition acquisition = recorded_acquisition(*recording, frame);
  spdlog::info("{}", recording->describe());
  log_warnings(*recording);
  adopt_wedge_velocity(configuration, recording->wedge_velocity());
  const auto plan = build_plan(configuration, acquisition, recording->material());

  warn_of_unreached(*plan);

  progress.step("delay tables");
  const auto setup = make_imaging_setup(plan, {.complex_images = options.field == "analytic", .display = false});
  const auto engine = make_engine(setup, backend_choice(configuration.imaging), {});
  FrameSlot slot;
  engine->equip(slot);
  read_recorded_frame(*recording, frame, slot);

  progress.step("imaging");
  if (!image_now(*engine, slot)) throw RuntimeFault("the backend could not image the frame");
  if (slot.invalid_samples > 0) spdlog::warn("{} samples were not finite and count as 0", slot.invalid_samples);

  for (const std::string_view view : setup->recipe.views()) {
    const auto values = pixels_of<float>(*setup, slot, view, OutputKind::envelope);
    if (std::all_of(values.begin(), values.end(), [](float value) { return value == 0.0F; })) {
      spdlog::warn("view {}: every pixel is 0; [grid] lies outside of what the gate reaches, or the data is empty", view);
    }
  }

  progress.step("writing");
  for (const Output& output : outputs) output.writer->write(describe_image(*setup, slot, output.view, options));
  for (const Output& output : outputs) spdlog::info("wrote {}", output.path.string());
  if (options.crop_distance) {
    const auto choice = backend_choice(configuration.imaging);
    for (const std::string& line : crop_distance(*plan, configuration.imaging.guard, *recording, frame, choice)) {
      fmt::print("{}\n", line);
    }
  }
  return 0;
}

}  // namespace

Action define_image(CLI::App& options) {
  auto chosen = std::make_shared<ImageOptions>();
  options.add_option("INPUT", chosen->input, "The recording")->required();
  options.add_option("--config", chosen->config, "TOML file: material, grid, views (docs/configuration.md)")->option_text("FILE");
  options.add_option("--output", chosen->outputs, "Where to: .npy, .png or .h5; may be repeated")
      ->required()
      ->option_text("FILE")
      ->take_all();
  options.add_option("--field", chosen->field, "What .npy and .h5 hold: envelope (float32) or analytic (complex64)")
      ->option_text("WORD (envelope)");
  options.add_option("--frame", chosen->frame, "Which frame, from 0")->option_text("K (0)");
  options.add_flag("--crop-distance", chosen->crop_distance,
                   "Also say how far the crop of live runs ([imaging] guard) would move the image");
  add_backend_option(options, chosen->backend);
  return [chosen] { return image(*chosen); };
}

}  // namespace echoform
