// [filter] and the data together: which filter, and what is said of it.
#include "methods/filter_settings.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "base/errors.hpp"
#include "methods/registry.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/gate.hpp"
#include "methods/tfm/setup.hpp"
#include "methods/tfm/stage_options.hpp"
#include "settings/live_keys.hpp"
#include "settings/reader.hpp"
#include "simulators/fmc_simulator.hpp"
#include "stages/filter/filter_response.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/places.hpp"

namespace echoform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Acquisition of_5_mhz(double bandwidth = 0.0) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(8, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(bandwidth));
  acquisition.samples = 1500;
  acquisition.sample_rate = Hertz(25e6);
  return acquisition;
}

FilterOptions resolved(const std::string& section, const Acquisition& acquisition, std::vector<std::string>* notes = nullptr) {
  std::vector<std::string> said;
  const FilterOptions options = resolve_filter(parse_configuration("[filter]\n" + section, "scan.toml"), acquisition, said);
  if (notes != nullptr) *notes = said;
  return options;
}

std::string refusal(const std::string& section, const Acquisition& acquisition = of_5_mhz()) {
  return test::input_error([&] { static_cast<void>(resolved(section, acquisition)); });
}

TEST(FilterSettings, LeftAloneTakeTheProbesBand) {
  std::vector<std::string> notes;
  const FilterOptions usual = resolved("", of_5_mhz(), &notes);
  EXPECT_EQ(usual.kind, FilterKind::band);
  // 60 % of 5 MHz are 3.5 to 6.5 MHz, which all pass: edges of half that width lie outside.
  EXPECT_NEAR(usual.skirt.value, 1.5e6, 1.0);
  EXPECT_NEAR(usual.low.value, 2.75e6, 1.0);
  EXPECT_NEAR(usual.high.value, 7.25e6, 1.0);
  EXPECT_EQ(usual.sample_rate, Hertz(25e6));
  EXPECT_THAT(notes, ElementsAre("scan.toml: A-scans are filtered: a band of 2.75 to 7.25 MHz, all of 60 % of the probe's centre "
                                 "frequency, as no bandwidth is stated ([filter] kind)"));
  const FilterOptions stated = resolved("", of_5_mhz(2e6), &notes);
  EXPECT_NEAR(stated.low.value, 3.5e6, 1.0);
  EXPECT_NEAR(stated.high.value, 6.5e6, 1.0);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("a band of 3.5 to 6.5 MHz, all of the probe's bandwidth")));

  Acquisition unknown = of_5_mhz();
  unknown.probe.centre_frequency = Hertz();
  EXPECT_EQ(resolved("", unknown, &notes).kind, FilterKind::mean);
  EXPECT_THAT(notes, ElementsAre("scan.toml: A-scans are filtered: their mean is taken away, as the probe's centre frequency "
                                 "is not known ([filter] kind)"));
  EXPECT_EQ(resolved("band = [2e6, 8e6]", unknown, &notes).low, Hertz(2e6));
  EXPECT_THAT(notes, ElementsAre("scan.toml: A-scans are filtered: a band of 2 to 8 MHz, as stated ([filter] kind)"));
  // Sampled too slowly for its band, or with a band from 0 on: there is none to take.
  Acquisition slow = of_5_mhz();
  slow.sample_rate = Hertz(8e6);
  EXPECT_EQ(resolved("", slow, &notes).kind, FilterKind::mean);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("as the probe's centre frequency of 5 MHz is not below half the sample rate, 4 MHz")));
  EXPECT_EQ(resolved("", of_5_mhz(11e6), &notes).kind, FilterKind::mean);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("as the probe's bandwidth of 11 MHz reaches down to 0 around its centre frequency of "
                                           "5 MHz")));
  // Above half the sample rate there is no edge.
  slow.sample_rate = Hertz(12e6);
  EXPECT_EQ(resolved("", slow).high, Hertz(6e6));
}

TEST(FilterSettings, TakeTheUsualBandWhereTheStatedOneIsInAnotherUnit) {
  const FilterOptions usual = resolved("", of_5_mhz());
  for (const double bandwidth : {3.0, 0.6, 1e-10, 5e-324, 249e3}) {
    std::vector<std::string> notes;
    EXPECT_EQ(resolved("", of_5_mhz(bandwidth), &notes), usual) << bandwidth;
    EXPECT_THAT(notes, ElementsAre(HasSubstr("a band of 2.75 to 7.25 MHz, all of 60 % of the probe's centre frequency, as the")));
    EXPECT_EQ(resolved("kind = \"band\"", of_5_mhz(bandwidth)), usual) << bandwidth;
  }
  std::vector<std::string> notes;
  static_cast<void>(resolved("", of_5_mhz(3.0), &notes));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("as the 3 Hz that are stated as its bandwidth are less than 5 % of it ([filter]")));
  EXPECT_NEAR(resolved("", of_5_mhz(250e3)).low.value, 4.8125e6, 1.0) << "5 % are taken: edges 0.125 MHz wide";
}

std::vector<std::string> warnings_of(const std::string& section, const Acquisition& acquisition = of_5_mhz()) {
  const Configuration configuration = parse_configuration("[filter]\n" + section, "scan.toml");
  std::vector<std::string> notes;
  return filter_warnings(configuration, resolve_filter(configuration, acquisition, notes), acquisition);
}

TEST(FilterSettings, KeysThatTheKindDoesNotUseAreTold) {
  EXPECT_THAT(warnings_of(""), IsEmpty());
  EXPECT_THAT(warnings_of("band = [2e6, 8e6]\nskirt = 1e6\nnotch = [6e6, 1e6]"), IsEmpty());
  EXPECT_THAT(warnings_of("skirt = 1e6"), IsEmpty());
  EXPECT_THAT(warnings_of("pulse_file = \"pulse.csv\""),
              ElementsAre("scan.toml: [filter] pulse_file is not used: A-scans are filtered by the kind \"band\", and it counts "
                          "with \"wiener\""));
  EXPECT_THAT(warnings_of("kind = \"mean\"\nband = [2e6, 8e6]\nskirt = 1e6\nnoise = 0.1"),
              ElementsAre(HasSubstr("[filter] band is not used: A-scans are filtered by the kind \"mean\""),
                          HasSubstr("[filter] skirt is not used"), HasSubstr("[filter] noise is not used")));
  EXPECT_THAT(warnings_of("kind = \"none\"\nnotch = [6e6, 1e6]"),
              ElementsAre(HasSubstr("[filter] notch is not used: A-scans are filtered by the kind \"none\", and it counts with "
                                    "every kind but \"none\"")));
  Acquisition unknown = of_5_mhz();
  unknown.probe.centre_frequency = Hertz();
  EXPECT_THAT(warnings_of("skirt = 1e6", unknown), ElementsAre(HasSubstr("[filter] skirt is not used")));
}

TEST(FilterSettings, AFilterThatLeavesNothingOfTheProbesBandIsTold) {
  EXPECT_THAT(
      warnings_of("band = [3.5, 6.5]"),
      ElementsAre("scan.toml: [filter]: the filter leaves next to nothing of the probe's band of 3.5 to 6.5 MHz, at most 0 "
                  "of the amplitude: are its frequencies in Hz, and those of this probe?"));
  EXPECT_THAT(warnings_of("band = [8e6, 10e6]"), ElementsAre(HasSubstr("next to nothing")));
  EXPECT_THAT(warnings_of("band = [4.99e6, 5.01e6]"), IsEmpty()) << "narrow, and within it";
  EXPECT_THAT(warnings_of("kind = \"mean\"\nnotch = [5e6, 50e6]"), ElementsAre(HasSubstr("next to nothing")));
  const test::Scratch scratch;
  const auto with_pulse = [&](double unit) {
    std::ofstream csv(scratch / "pulse.csv");
    for (int n = 0; n < 64; ++n) {
      csv << n / 50e6 / unit << ',' << std::exp(-0.01 * (n - 30) * (n - 30)) * std::cos(0.2 * std::numbers::pi * (n - 30))
          << '\n';
    }
    csv.close();
    return warnings_of("kind = \"wiener\"\npulse_file = \"" + (scratch / "pulse.csv").string() + "\"");
  };
  EXPECT_THAT(with_pulse(1.0), IsEmpty());
  EXPECT_THAT(with_pulse(1e-6), ElementsAre(HasSubstr("at most 0 of the amplitude: are the times of pulse_file in s")));
  // The setup carries it.
  Configuration configuration = parse_configuration(
      "[material]\nlongitudinal_velocity = 6320\n[grid]\npixels = [8, 8]\n[filter]\nband = [3.5, 6.5]\n", "scan.toml");
  const auto setup = resolve_imaging({.configuration = configuration, .acquisition = of_5_mhz()});
  EXPECT_THAT(setup->warnings, testing::Contains(HasSubstr("next to nothing of the probe's band")));
  EXPECT_THAT(setup->warnings, testing::Contains(HasSubstr("[filter] band = [3.5, 6.5] Hz: MHz, for [3.5e+06, 6.5e+06] Hz?")));
}

TEST(FilterSettings, AreTakenAsStated) {
  std::vector<std::string> notes;
  EXPECT_EQ(resolved("kind = \"none\"\nband = [3e6, 600e6]", of_5_mhz(), &notes), FilterOptions());
  EXPECT_TRUE(notes.empty());
  const FilterOptions mean = resolved("kind = \"mean\"\nnotch = [6e6, 1e6]", of_5_mhz(), &notes);
  EXPECT_EQ(mean.kind, FilterKind::mean);
  EXPECT_EQ(mean.notch, (Notch{Hertz(6e6), Hertz(1e6)}));
  EXPECT_TRUE(notes.empty());
  const FilterOptions band = resolved("kind = \"band\"\nband = [2e6, 8e6]\nskirt = 1e6", of_5_mhz());
  EXPECT_EQ(band.low, Hertz(2e6));
  EXPECT_EQ(band.high, Hertz(8e6));
  EXPECT_EQ(band.skirt, Hertz(1e6));

  const test::Scratch scratch;
  std::ofstream csv(scratch / "pulse.csv");
  csv << "time, amplitude\n";
  for (int n = 0; n < 64; ++n) {
    csv << 1e-6 + n / 50e6 << ',' << std::exp(-0.01 * (n - 30) * (n - 30)) * std::cos(0.2 * std::numbers::pi * (n - 30)) << '\n';
  }
  csv.close();
  const std::string file = (scratch / "scan.toml").string();
  std::ofstream(file) << "[filter]\nkind = \"wiener\"\npulse_file = \"pulse.csv\"\nnoise = 0.1\n";
  const FilterOptions wiener = resolve_filter(load_configuration(file), of_5_mhz(), notes);
  EXPECT_EQ(wiener.kind, FilterKind::wiener);
  EXPECT_EQ(wiener.noise, 0.1);
  ASSERT_TRUE(wiener.pulse);
  EXPECT_EQ(wiener.pulse->samples.size(), 64u);
  EXPECT_NEAR(wiener.pulse->sample_rate.value, 50e6, 5e4);  // times of six digits
  EXPECT_TRUE(notes.empty());
}

Acquisition of_light() {
  Acquisition acquisition = of_5_mhz();
  acquisition.sample_rate = Hertz(40e6);
  return acquisition;
}

TEST(FilterSettings, EachEndOfABandHasItsOwnSkirt) {
  // Of optoacoustics, 50 kHz to 6.5 MHz: the upper edge is no brick wall because the lower one is narrow.
  const FilterOptions usual = resolved("band = [0.05e6, 6.5e6]", of_light());
  EXPECT_EQ(usual.skirt, Hertz(0.05e6));
  EXPECT_EQ(usual.upper_skirt, Hertz(3.225e6));
  // One skirt is that of both edges, as files had it before there were two.
  const FilterOptions one = resolved("band = [0.05e6, 6.5e6]\nskirt = 0.05e6", of_light());
  EXPECT_EQ(one.skirt, Hertz(0.05e6));
  EXPECT_EQ(one.upper_skirt, Hertz(0.05e6));
  const FilterOptions two = resolved("band = [0.05e6, 6.5e6]\nskirt = 0.04e6\nupper_skirt = 1e6", of_light());
  EXPECT_EQ(two.skirt, Hertz(0.04e6));
  EXPECT_EQ(two.upper_skirt, Hertz(1e6));
  EXPECT_EQ(resolved("band = [0.05e6, 6.5e6]\nupper_skirt = 1e6", of_light()).skirt, Hertz(0.05e6));
  // How long a sharp edge rings: differences of neighbours in the response, where the slow part of the lower edge is nothing.
  const auto rings = [](const FilterOptions& options) {
    const std::vector<double> response = impulse_response(filter_response(options, response_samples), response_samples);
    double most = 0.0;
    std::size_t last = 0;
    for (std::size_t n = 0; n + 1 < response_samples / 2; ++n) most = std::max(most, std::abs(response[n + 1] - response[n]));
    for (std::size_t n = 0; n + 1 < response_samples / 2; ++n) {
      if (std::abs(response[n + 1] - response[n]) > 1e-3 * most) last = n;
    }
    return last;
  };
  // By the same sums in NumPy: 27 and 830 samples.
  EXPECT_NEAR(static_cast<double>(rings(usual)), 27.0, 1.0);
  EXPECT_NEAR(static_cast<double>(rings(one)), 830.0, 1.0);
}

TEST(FilterSettings, MuteIsRoundedUpToWhatGatesBeginAt) {
  Acquisition acquisition = of_5_mhz();
  acquisition.start_time = Seconds(-1e-6);
  std::vector<std::string> notes;
  const auto muted = [&](const std::string& mute) {
    notes.clear();
    return muted_samples(parse_configuration("[filter]\n" + mute, "scan.toml"), acquisition, notes);
  };
  EXPECT_EQ(muted(""), 0U);
  EXPECT_EQ(muted("mute = -2e-6"), 0U);
  EXPECT_TRUE(notes.empty());
  // 25 samples are at 0 s, and 32 from there on.
  EXPECT_EQ(muted("mute = 0.0"), 32U);
  EXPECT_EQ(muted("mute = 0.28e-6"), 32U);
  EXPECT_EQ(muted("mute = 0.29e-6"), 40U);
  EXPECT_THAT(notes, ElementsAre("scan.toml: the first 40 of 1500 samples, up to 0.6 us, are left out ([filter] mute)"));
  EXPECT_THROW(static_cast<void>(muted("mute = 60e-6")), InputError);
}

TEST(FilterSettings, MutedSamplesAreInNoGate) {
  const std::string part =
      "[material]\nlongitudinal_velocity = 6320\n[grid]\nx = [-2e-3, 2e-3]\nz = [0.1e-3, 40e-3]\npixels = [8, 8]\n"
      "[filter]\nmute = 2e-6\n";
  for (const std::string crop : {"never", "always"}) {
    const Configuration configuration = parse_configuration(part + "[imaging]\ncrop = \"" + crop + "\"\n", "scan.toml");
    const auto setup = resolve_imaging({.configuration = configuration, .acquisition = of_5_mhz()});
    // 50 samples are at 2 us.
    EXPECT_EQ(setup->gate.first, 56U) << crop;
    EXPECT_LE(setup->gate.first + setup->gate.count, 1500U) << crop;
    EXPECT_THAT(setup->notes, testing::Contains(HasSubstr("are left out ([filter] mute)"))) << crop;
  }
}

TEST(FilterSettings, MutedSamplesAreInNoGateOfAnyMethod) {
  // Scan lines filter whole A-scans or image those that are reached; tomography crops live ones alone.
  for (const char* const example : {"sector", "tomography_ring", "plane_waves"}) {
    for (const char* const kind : {"mean", "none"}) {
      for (const ImagingUse use : {ImagingUse::recording, ImagingUse::live}) {
        Configuration configuration =
            load_configuration(test::source_directory() / "examples" / (std::string(example) + ".toml"));
        configuration.imaging.backend = BackendWish::cpu;
        const SimulatorConfiguration source = simulated_source(configuration);
        const Acquisition acquisition = acquisition_of(source);
        auto& filter = section<FilterSection>(configuration);
        filter = FilterSection();
        filter.kind = kind == std::string_view("mean") ? FilterWish::mean : FilterWish::none;
        const auto gate = [&] {
          return resolve_imaging(
                     {.configuration = configuration, .acquisition = acquisition, .stated = {source.material, {}}, .use = use})
              ->gate;
        };
        const SampleGate whole = gate();
        // In the middle of what was imaged, on a sample that is a multiple of 8.
        const std::size_t muted = (whole.first + whole.count / 2) / 8 * 8;
        filter.mute = acquisition.start_time - acquisition.time_offset + static_cast<double>(muted) / acquisition.sample_rate;
        SCOPED_TRACE(std::string(example) + " " + kind);
        EXPECT_EQ(gate().first, muted);
        EXPECT_LE(gate().first + gate().count, acquisition.samples);
      }
    }
  }
}

TEST(FilterSettings, BadOnesAreRefusedByOneLine) {
  EXPECT_EQ(
      refusal("band = [6e6, 3e6]"),
      "scan.toml:2: [filter] band: found [6000000.0, 3000000.0]; expected the lower edge first, 0 or more, and a higher one "
      "behind it");
  EXPECT_THAT(refusal("kind = \"none\"\nband = [3e6, 3e6]"), HasSubstr("expected the lower edge first")) << "whatever the kind";
  EXPECT_EQ(refusal("band = [3e6, 13e6]"),
            "scan.toml: [filter] band: found 3 to 13 MHz; expected edges of at most half the sample rate, 12.5 MHz");
  EXPECT_EQ(refusal("notch = [13e6, 1e6]"),
            "scan.toml: [filter] notch: found a centre of 13 MHz; expected one above 0 and below half the sample rate, 12.5 MHz");
  EXPECT_THAT(refusal("notch = [6e6, 0]"), HasSubstr("notch: found"));
  Acquisition unknown = of_5_mhz();
  unknown.probe.centre_frequency = Hertz();
  EXPECT_EQ(refusal("kind = \"band\"", unknown),
            "scan.toml: [filter] band: found none, and the probe's centre frequency is not known; expected band = [low, high] in "
            "Hz, or a probe whose band lies between 0 and half the sample rate");
  EXPECT_THAT(refusal("kind = \"band\"", of_5_mhz(10e6)), HasSubstr("found none, and the probe's bandwidth of 10 MHz reaches"));
  EXPECT_EQ(refusal("kind = \"wiener\""),
            "scan.toml: [filter] pulse_file: found none; expected a CSV file with lines of time in s and amplitude, for kind = "
            "\"wiener\"");
  EXPECT_EQ(
      refusal("kind = \"wiener\"\npulse_file = \"/nowhere/pulse.csv\""),
      "scan.toml: [filter] pulse_file: found /nowhere/pulse.csv, which does not exist; expected a CSV file with lines of time "
      "in s and amplitude");
  const test::Scratch scratch;
  const auto with_file = [&](const std::string& text) {
    std::ofstream(scratch / "pulse.csv") << text;
    return refusal("kind = \"wiener\"\npulse_file = \"" + (scratch / "pulse.csv").string() + "\"");
  };
  EXPECT_THAT(with_file(""), HasSubstr("found 0 samples; expected at least two"));
  EXPECT_THAT(with_file("0,1\n1e-6,2\n3e-6,1\n"),
              HasSubstr("found sample 1 at 1e-06 s; expected times that grow in equal steps"));
  EXPECT_THAT(with_file("0,1\n1e-6,zwei\n"), HasSubstr("line 2: found \"zwei\"; expected a number"));
  EXPECT_THAT(with_file("0,0\n1e-6,0\n2e-6,0\n"), HasSubstr("[filter] pulse: found zeros alone; expected an echo"));
}

TEST(FilterSettings, ReachTheStageTheGateAndTheReport) {
  Configuration configuration =
      parse_configuration("[grid]\nx = [-0.002, 0.002]\nz = [0.010, 0.020]\npixels = [8, 8]\n", "scan.toml");
  configuration.material.longitudinal_velocity = MetresPerSecond(6320.0);
  const auto setup_of = [&] { return resolve_imaging({configuration, of_5_mhz(), {}, 1, ImagingUse::live}); };
  const auto filtered = setup_of();
  const ImagingPlan& plan = plan_of(*filtered);
  EXPECT_EQ(plan.filter.kind, FilterKind::band);
  EXPECT_EQ(analytic_signal_options(plan).filter, plan.filter);
  EXPECT_THAT(filtered->notes, testing::Contains(HasSubstr("A-scans are filtered: a band of 2.75 to 7.25 MHz")));
  const std::size_t length = response_size(plan.filter).length;
  EXPECT_GT(length, 0u);
  EXPECT_EQ(plan.gate, choose_gate(plan, 64 + length)) << "the guard grows by the response";

  const Method& method = method_of(configuration);
  const SetupReport report = method.report(*filtered);
  EXPECT_THAT(report.rows, testing::Contains(testing::Pair("filter", HasSubstr("a band of 2.75 to 7.25 MHz passes"))));
  EXPECT_EQ(report.values["filter"]["kind"], "band");
  EXPECT_EQ(report.values["filter"]["response"], length);
  Configuration in_use;
  method.show_in_use(*filtered, in_use);
  EXPECT_EQ(section<FilterSection>(in_use).kind, FilterWish::band);
  // What is in use asks for just that.
  std::vector<std::string> notes;
  EXPECT_EQ(resolve_filter(in_use, of_5_mhz(), notes), plan.filter);

  section<FilterSection>(configuration).kind = FilterWish::none;
  const auto plain = setup_of();
  EXPECT_EQ(plan_of(*plain).filter, FilterOptions());
  EXPECT_EQ(plan_of(*plain).gate, choose_gate(plan_of(*plain), 64));
  EXPECT_EQ(method.report(*plain).values["filter"]["kind"], "none");
  in_use = {};
  method.show_in_use(*plain, in_use);
  EXPECT_EQ(section<FilterSection>(in_use).kind, FilterWish::none);
}

TEST(FilterSettings, ChangeLiveButForTheFile) {
  Configuration configuration;
  apply_changes(std::vector<KeyChange>{{"filter.kind", "mean"}, {"filter.notch", "[6e6, 1e6]"}, {"filter.noise", "0.1"}},
                configuration);
  EXPECT_EQ(section<FilterSection>(configuration).kind, FilterWish::mean);
  EXPECT_EQ(*section<FilterSection>(configuration).notch, (std::array{Hertz(6e6), Hertz(1e6)}));
  EXPECT_THROW(apply_changes(std::vector<KeyChange>{{"filter.pulse_file", "/etc/passwd"}}, configuration), InputError);
}

}  // namespace
}  // namespace echoform
