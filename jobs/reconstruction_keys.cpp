// Keys of [reconstruction].
#include "config/key_types.hpp"
#include "jobs/reconstruction_section.hpp"

namespace echoform {
namespace {

constexpr auto model_words = make_words(std::pair{ReconstructionModel::interpolated, std::string_view("interpolated")},
                                        std::pair{ReconstructionModel::spherical, std::string_view("spherical")});
constexpr auto solver_words =
    make_words(std::pair{ReconstructionSolver::conjugate_gradients, std::string_view("conjugate_gradients")},
               std::pair{ReconstructionSolver::lsqr, std::string_view("lsqr")},
               std::pair{ReconstructionSolver::fista, std::string_view("fista")},
               std::pair{ReconstructionSolver::total_variation, std::string_view("total_variation")});
constexpr auto penalty_words = make_words(std::pair{ReconstructionPenalty::smoothness, std::string_view("smoothness")},
                                          std::pair{ReconstructionPenalty::damping, std::string_view("damping")});

}  // namespace

KeyGroup reconstruction_keys() {
  KeyGroup group;
  group.sections = {{"reconstruction", "What `echoform reconstruct` solves, and how (docs/reconstruct.md)."}};
  std::vector<Key>& k = group.keys;
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(word(
      {"reconstruction", "model", "",
       "How a volume makes data: by interpolated integrals over spheres, or by voxels as balls, in a band of frequencies."},
      model_words, [](auto& c) -> auto& { return section<ReconstructionSection>(c).model; }));
  k.push_back(word(
      {"reconstruction", "solver", "",
       "How the volume is found whose data come nearest to the recorded: conjugate_gradients and lsqr with a quadratic penalty, "
       "fista the same without negative values, total_variation with one on the length of gradients, which keeps edges."},
      solver_words, [](auto& c) -> auto& { return section<ReconstructionSection>(c).solver; }));
  k.push_back(number(
      {"reconstruction", "penalty", "",
       "Weight of the penalty: of squared differences of neighbouring voxels against squared residuals of samples; of "
       "total_variation "
       "of the differences' lengths."},
      within(0.0, 1e30), [](auto& c) -> auto& { return section<ReconstructionSection>(c).penalty; }));
  k.push_back(word(
      {"reconstruction", "penalty_kind", "",
       "What is penalised: differences of neighbours (smoothness) or the values themselves (damping). Not of total_variation.",
       "smoothness"},
      penalty_words, [](auto& c) -> auto& { return section<ReconstructionSection>(c).penalty_kind; }));
  k.push_back(boolean(
      {"reconstruction", "non_negative", "", "Whether no voxel may be below 0. Of fista and total_variation.", "true of fista"},
      [](auto& c) -> auto& { return section<ReconstructionSection>(c).non_negative; }));
  k.push_back(integer(
      {"reconstruction", "iterations", "", "At most so many; --iterations takes its place."}, within(1, 1e6),
      [](auto& c) -> auto& { return section<ReconstructionSection>(c).iterations; }));
  k.push_back(number(
      {"reconstruction", "tolerance", "",
       "It ends where what is left of the data, as a share of them (both as square sums' roots), is no more than this; 0 is no "
       "such end."},
      within(0.0, 1.0), [](auto& c) -> auto& { return section<ReconstructionSection>(c).tolerance; }));
  k.push_back(number(
      {"reconstruction", "noise", "",
       "Root mean square of the noise of a sample, in units of samples: it ends where what is left of the data is no more than "
       "discrepancy_factor times that of the noise (Morozov).",
       "unknown: no such end"},
      above(0.0, 1e30), [](auto& c) -> auto& { return section<ReconstructionSection>(c).noise; }));
  k.push_back(number(
      {"reconstruction", "discrepancy_factor", "", "Of noise; somewhat above 1 ends earlier.", "1"}, within(0.1, 100.0),
      [](auto& c) -> auto& { return section<ReconstructionSection>(c).discrepancy_factor; }));
  k.push_back(number(
      {"reconstruction", "highest_frequency", "Hz", "Of the band in which the spherical model works.",
       "that of waves of two voxels, and no more than a quarter of the sample rate"},
      within(1.0, 1e9), [](auto& c) -> auto& { return section<ReconstructionSection>(c).highest_frequency; }));
  k.push_back(boolean(
      {"reconstruction", "rectangular_elements", "",
       "Whether the spherical model takes elements for rectangles of their widths and lengths, rather than points.", "false"},
      [](auto& c) -> auto& { return section<ReconstructionSection>(c).rectangular_elements; }));
  k.push_back(integer_pair(
      {"reconstruction", "element_parts", "",
       "Into how many parts rectangular_elements are cut along their widths and their lengths, each of which the model takes in "
       "its "
       "far field. As many as parts are a model's work.",
       "as many as keep the far field's error within 3 % in the middle of the band, up to 16 a side"},
      within(1, 64), [](auto& c) -> auto& { return section<ReconstructionSection>(c).element_parts; }));
  Key file = text(
      {"reconstruction", "impulse_response", "",
       "CSV file with the impulse response of the detectors, a number a line, at the sample rate of the data: the model's "
       "pressures are convolved by it. Relative to the configuration's folder.",
       "none"},
      "", any_text, [](auto& c) -> auto& { return section<ReconstructionSection>(c).impulse_response; });
  file.names_file = true;
  file.read = [expected = file.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    const std::string name = read_text(node, where, expected);
    section<ReconstructionSection>(into).impulse_response = name.empty() ? name : named_file(into, name).string();
  };
  k.push_back(std::move(file));
  k.push_back(integer(
      {"reconstruction", "impulse_zero", "", "Which sample of impulse_response, from 0, is at the time of the pressure.",
       "that of the greatest magnitude"},
      within(0, 65535), [](auto& c) -> auto& { return section<ReconstructionSection>(c).impulse_zero; }));
  k.push_back(number(
      {"reconstruction", "wavelength", "m",
       "Of the light whose events are taken, of frames with several wavelengths: one volume, named as --output has it.",
       "as wavelengths says"},
      within(1e-9, 1e-4), [](auto& c) -> auto& { return section<ReconstructionSection>(c).wavelength; }));
  k.push_back(number_list(
      {"reconstruction", "wavelengths", "m",
       "Of light: a volume is made of each, one after the other; of several the files have names such as \"volume.750nm.npy\". "
       "Empty: of all that there are."},
      within(1e-9, 1e-4), ReconstructionSection::most_wavelengths,
      [](auto& c) -> auto& { return section<ReconstructionSection>(c).wavelengths; }));
  return group;
}

}  // namespace echoform
