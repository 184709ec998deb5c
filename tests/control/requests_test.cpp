// Control beside the frames: what is read, who may change what when, and how it ends.
#include <algorithm>

#include "base/errors.hpp"
#include "instruments/micropulse/micropulse_section.hpp"
#include "methods/registry.hpp"
#include "methods/unread_keys.hpp"
#include "pipeline/setup_memory.hpp"
#include "settings/live_keys.hpp"
#include "settings/reader.hpp"
#include "tests/control/rig.hpp"

namespace echoform::test {
namespace {

std::shared_ptr<const ImagingSetup> rig_setup(const Configuration& configuration) {
  return resolve_imaging({configuration, rig_acquisition(), {}, configuration.input.slots, ImagingUse::live});
}

using testing::HasSubstr;

std::size_t columns_of(const ImagingSetup& setup) {
  return setup.recipe.outputs.front().description.grid.x.count;
}

std::map<std::string, wire::Setting> by_key(const wire::ControlReply& reply) {
  std::map<std::string, wire::Setting> settings;
  for (const auto& setting : reply.settings()) settings[setting.key()] = setting;
  return settings;
}

TEST(ControlRequests, GetTellsWhatControlsAreBuiltFrom) {
  Rig rig;
  wire::ControlReply reply = rig.ask("get");
  ASSERT_EQ(reply.outcome(), wire::DONE);
  EXPECT_EQ(reply.revision(), 1U);
  EXPECT_FALSE(reply.streaming());
  EXPECT_THAT(std::vector<std::string>(reply.actions().begin(), reply.actions().end()),
              testing::ElementsAre("get", "set", "reset"));
  auto settings = by_key(reply);
  // Those of instruments are live where there is one, those of other methods where one of them is in use.
  const Method& method = *find_method("tfm");
  ASSERT_EQ(settings.size(), std::count_if(live_keys().begin(), live_keys().end(), [&](const Key* key) {
              return key->live != LiveEffect::instrument && reads_key(method, *key);
            }));
  EXPECT_TRUE(settings.contains("imaging.method"));
  EXPECT_TRUE(settings.contains("input.drop_policy")) << "a key of the program is no method's";
  EXPECT_FALSE(settings.contains("beams.depth"));
  wire::ControlRequest by_name;
  by_name.set_action("get");
  by_name.add_keys("beams.depth");
  EXPECT_EQ(by_key(rig.control.handle(by_name)).size(), 1U) << "asked for by its name";
  const wire::Setting& gain = settings.at("output.gain_db");
  EXPECT_EQ(gain.value(), "0");
  EXPECT_EQ(gain.type(), "number");
  EXPECT_EQ(gain.unit(), "dB");
  EXPECT_EQ(gain.low(), -200.0);
  EXPECT_EQ(gain.high(), 200.0);
  EXPECT_EQ(gain.default_value(), "0");
  EXPECT_EQ(gain.effect(), "display");
  EXPECT_THAT(gain.help(), testing::StartsWith("Gain of the display"));
  const wire::Setting& window = settings.at("apodization.window");
  EXPECT_EQ(window.type(), "word");
  EXPECT_THAT(std::vector<std::string>(window.words().begin(), window.words().end()),
              testing::ElementsAre("none", "hann", "tukey"));
  EXPECT_EQ(settings.at("grid.x").value(), "[-0.002, 0.002]");
  EXPECT_EQ(settings.at("imaging.views").value(), "[\"LL\"]");
  EXPECT_EQ(settings.at("material.shear_velocity").value(), "");
  EXPECT_EQ(settings.at("material.shear_velocity").default_value(), "from the data");

  // What follows from the data is told once there are some.
  static_cast<void>(rig.set({{"grid.x", ""}}));
  EXPECT_EQ(by_key(rig.ask("get")).at("grid.x").in_use(), "");
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  settings = by_key(rig.ask("get"));
  EXPECT_EQ(settings.at("grid.x").value(), "");
  EXPECT_EQ(settings.at("grid.x").in_use(), "[-0.00175, 0.00175]") << "the aperture: 8 elements 0.5 mm apart";
  EXPECT_EQ(settings.at("grid.x").file_value(), "[-0.002, 0.002]");
  EXPECT_EQ(settings.at("filter.kind").value(), "\"auto\"");
  EXPECT_EQ(settings.at("filter.kind").in_use(), "\"band\"") << "the probe's centre frequency is known";
  EXPECT_EQ(settings.at("filter.band").in_use(), "[3125000, 6875000]");
  EXPECT_THAT(rig.ask("set", {{"filter.band", "[6e6, 3e6]"}}).reason(),
              HasSubstr("[filter] band: found [6000000.0, 3000000.0]; expected the lower edge first"));
  EXPECT_TRUE(rig.ask("get").streaming());

  wire::ControlRequest one;
  one.set_action("get");
  one.add_keys("output.gain_db");
  EXPECT_EQ(rig.control.handle(one).settings_size(), 1);
  one.add_keys("output.gain");
  reply = rig.control.handle(one);
  EXPECT_EQ(reply.outcome(), wire::REFUSED);
  EXPECT_EQ(reply.settings_size(), 0);
}

TEST(ControlRequests, WithoutAStreamSettingsAreKeptForTheNext) {
  Rig rig;
  const wire::ControlReply reply = rig.ask("set", {{"grid.pixels", "[8, 10]"}, {"output.gain_db", "4"}});
  EXPECT_EQ(reply.outcome(), wire::DONE);
  EXPECT_EQ(reply.revision(), 2U);
  EXPECT_FALSE(reply.streaming());
  rig.in_force[2] = rig.control.configuration();
  EXPECT_EQ(*rig.made, 0);
  // Already here as much is checked as can be.
  EXPECT_THAT(rig.ask("set", {{"imaging.views", "[\"TT\"]"}}).reason(), HasSubstr("shear_velocity"));
  EXPECT_THAT(rig.ask("set", {{"grid.pixels", "[1, 10]"}}).reason(), HasSubstr("equal ends for one pixel"));
  EXPECT_EQ(rig.control.revision(), 2U);
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  Feeder feeder(*intake);
  for (int k = 0; k < 3; ++k) feeder.send_one();
  ASSERT_TRUE(rig.sink->wait_count(3));
  feeder.stop();
  rig.check_all(3);
  EXPECT_EQ(rig.sink->frames().front().revision, 2U);
}

TEST(ControlRequests, AnInstrumentsKeysAreLiveWhereThereIsOne) {
  Rig rig;
  const wire::ControlReply reply = rig.ask("set", {{"input.micropulse.gain", "46"}});
  EXPECT_EQ(reply.outcome(), wire::REFUSED);
  EXPECT_EQ(reply.reason(),
            "[input.micropulse] gain: found a change without such an instrument; expected a server that connects to one: "
            "[input.micropulse] connect");
  EXPECT_EQ(rig.control.revision(), 1U);
}

TEST(ControlRequests, AnInstrumentIsToldFirstAndWhatItRefusesChangesNothing) {
  Rig rig;
  std::vector<double> told;
  rig.control.add({.section = "input.micropulse", .follow = [&](const Configuration& wanted) {
                     const double gain = section<MicropulseSection>(wanted).gain;
                     if (gain > 60.0) throw InputError("the instrument refuses the change: an argument out of its limits");
                     told.push_back(gain);
                   }});
  auto settings = by_key(rig.ask("get"));
  EXPECT_EQ(settings.at("input.micropulse.gain").value(), "40");
  EXPECT_EQ(settings.at("input.micropulse.gain").effect(), "instrument");
  EXPECT_EQ(settings.at("input.micropulse.samples").high(), 8000.0);

  EXPECT_EQ(rig.set({{"input.micropulse.gain", "46.25"}}), 2U);
  EXPECT_THAT(told, testing::ElementsAre(46.25));
  EXPECT_EQ(rig.set({{"output.gain_db", "3"}}), 3U);
  EXPECT_THAT(told, testing::ElementsAre(46.25)) << "nothing of it has changed";

  const wire::ControlReply reply = rig.ask("set", {{"input.micropulse.gain", "65"}, {"output.gain_db", "6"}});
  EXPECT_EQ(reply.outcome(), wire::REFUSED);
  EXPECT_EQ(reply.reason(), "the instrument refuses the change: an argument out of its limits");
  EXPECT_EQ(rig.control.revision(), 3U);
  EXPECT_EQ(section<OutputSection>(rig.control.configuration()).gain_db, 3.0);
  EXPECT_THAT(rig.ask("set", {{"input.micropulse.gain", "71"}}).reason(), HasSubstr("[input.micropulse] gain: found 71"));

  EXPECT_EQ(rig.ask("reset").outcome(), wire::DONE);
  EXPECT_THAT(told, testing::ElementsAre(46.25, 40.0));
}

// Else the next sender would be refused for it, and nobody would see why.
TEST(ControlRequests, WhatTheMethodDoesNotReadIsRefusedBeforeAStreamToo) {
  Rig rig;
  const wire::ControlReply reply = rig.ask("set", {{"imaging.method", "beams"}, {"couplant.velocity", "1000"}});
  EXPECT_EQ(reply.outcome(), wire::REFUSED);
  EXPECT_THAT(reply.reason(), HasSubstr("[couplant] velocity: found 1000 with [imaging] method = \"beams\""));
  // What is not refused is told, and is listed since the file does not have it.
  const wire::ControlReply told = rig.ask("set", {{"imaging.method", "beams"}, {"material.shear_velocity", "800"}});
  ASSERT_EQ(told.outcome(), wire::DONE) << told.reason();
  EXPECT_THAT(std::vector<std::string>(told.warnings().begin(), told.warnings().end()),
              testing::Contains(HasSubstr("[material] shear_velocity = 800 has no effect")));
  EXPECT_TRUE(by_key(rig.ask("get")).contains("material.shear_velocity"));
}

TEST(ControlRequests, WhatThePipelineRefusesIsTakenBackFromTheInstrument) {
  Rig rig(BackendKind::cpu, rig_file, [](auto setup, const auto& wish, const auto& given) {
    if (setup->recipe.outputs.front().description.grid.x.count == 17) throw InputError("engine", "17 columns", "others");
    return make_engine(std::move(setup), wish, given);
  });
  std::vector<double> told;
  rig.control.add({.section = "input.micropulse",
                   .follow = [&](const Configuration& wanted) { told.push_back(section<MicropulseSection>(wanted).gain); }});
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  EXPECT_EQ(rig.ask("set", {{"input.micropulse.gain", "50"}, {"grid.pixels", "[17, 20]"}}).outcome(), wire::REFUSED);
  EXPECT_THAT(told, testing::ElementsAre(50.0, 40.0));
  EXPECT_EQ(rig.control.revision(), 1U);
  EXPECT_EQ(section<MicropulseSection>(rig.control.configuration()).gain, 40.0);
}

TEST(ControlRequests, WhatChangesNothingHasNoRevisionOfItsOwn) {
  Rig rig;
  EXPECT_EQ(rig.ask("set", {{"output.gain_db", "0.0"}, {"grid.x", "[-2e-3, 2e-3]"}}).revision(), 1U);
  EXPECT_EQ(rig.ask("reset").revision(), 1U);
}

TEST(ControlRequests, ResetGoesBackToTheFile) {
  Rig rig;
  static_cast<void>(rig.set({{"output.gain_db", "5"}, {"grid.y", "0.001"}, {"material.shear_velocity", "3000"}}));
  wire::ControlRequest one;
  one.set_action("reset");
  one.add_keys("grid.y");
  wire::ControlReply reply = rig.control.handle(one);
  EXPECT_EQ(reply.outcome(), wire::DONE);
  ASSERT_EQ(reply.settings_size(), 1);
  EXPECT_EQ(reply.settings(0).value(), "");
  EXPECT_EQ(section<OutputSection>(rig.control.configuration()).gain_db, 5.0);
  reply = rig.ask("reset");
  EXPECT_EQ(reply.settings_size(), 2);
  EXPECT_TRUE(differing_keys(rig.control.configuration(), rig.configuration).empty());
  EXPECT_EQ(reply.revision(), 4U);
}

TEST(ControlRequests, OneOfTwoThatExpectTheSameRevisionSucceeds) {
  Rig rig;
  EXPECT_EQ(rig.ask("set", {{"output.gain_db", "5"}}, 1).outcome(), wire::DONE);
  const wire::ControlReply late = rig.ask("set", {{"output.gain_db", "7"}}, 1);
  EXPECT_EQ(late.outcome(), wire::CONFLICT);
  EXPECT_EQ(late.reason(), "settings revision: found 2; expected 1: they have changed meanwhile");
  EXPECT_EQ(late.revision(), 2U);
  EXPECT_EQ(section<OutputSection>(rig.control.configuration()).gain_db, 5.0);

  // Many at once add up: no increment is lost.
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  Feeder feeder(*intake);
  feeder.start();
  constexpr int controllers = 4;
  constexpr int steps = 6;
  std::vector<std::jthread> threads;
  static_cast<void>(rig.set({{"output.gain_db", "0"}}));
  const std::uint64_t first = rig.control.revision();
  for (int k = 0; k < controllers; ++k) {
    threads.emplace_back([&rig, k] {
      for (int done = 0; done < steps;) {
        wire::ControlRequest read;
        read.set_action("get");
        read.add_keys("output.gain_db");
        const wire::ControlReply now = rig.control.handle(read);
        const std::string next = std::to_string(std::stoi(now.settings(0).value()) + 1);
        std::vector<std::pair<std::string, std::string>> change{{"output.gain_db", next}};
        if (k == 0) change.emplace_back("grid.y", std::to_string(1e-4 * done));
        if (rig.ask("set", change, now.revision()).outcome() == wire::DONE) ++done;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(section<OutputSection>(rig.control.configuration()).gain_db, controllers * steps);
  EXPECT_EQ(rig.control.revision(), first + controllers * steps);
  ASSERT_TRUE(rig.sink->wait_revision(rig.control.revision()));
  feeder.stop();
  rig.pipeline.stop();
  EXPECT_EQ(rig.pipeline.counters().frames_published, feeder.sent());
}

TEST(ControlRequests, SettingsSurviveASenderThatComesWithAnotherAcquisition) {
  Rig rig;
  std::atomic<bool> over{false};
  std::jthread controller([&] {
    for (int k = 0; !over; ++k)
      EXPECT_EQ(rig.ask("set", {{"output.gain_db", std::to_string(k % 9)}, {"grid.y", k % 3 == 0 ? "0" : "0.0005"}}).outcome(),
                wire::DONE);
  });
  std::size_t sent = 0;
  for (std::uint64_t session = 1; session <= 8; ++session) {
    const auto intake = rig.pipeline.open_stream(session, rig_acquisition(session % 2 == 0 ? 8 : 6));
    Feeder feeder(*intake);
    for (int k = 0; k < 5; ++k, ++sent) feeder.send_one();
    feeder.stop();
  }
  over = true;
  controller.join();
  rig.pipeline.stop();
  const CounterSnapshot counters = rig.pipeline.counters();
  EXPECT_TRUE(counters.closes());
  EXPECT_EQ(counters.frames_published, sent);
  EXPECT_EQ(rig.sink->mixed, 0);
}

TEST(ControlRequests, WhatDoesNotFitBesideTheEngineInWorkIsRefusedBeforeItIsBuilt) {
  const auto limited = [](double bytes) {
    std::string file(rig_file);
    return file.replace(file.find("threads = 1"), 11, "threads = 1\nmemory_limit = " + std::to_string(bytes));
  };
  Configuration large = parse_configuration(rig_file, "scan.toml");
  large.grid.pixels = {120, 120};
  const auto needed = static_cast<double>(host_memory(*rig_setup(large), large.input.slots, {BackendKind::cpu, 1}));
  Rig rig(BackendKind::cpu, limited(1.02 * needed));
  {
    const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
    const wire::ControlReply reply = rig.ask("set", {{"grid.pixels", "[120, 120]"}});
    EXPECT_EQ(reply.outcome(), wire::REFUSED);
    EXPECT_THAT(reply.reason(), HasSubstr("[grid] pixels: found 120 x 120 pixels and 1 view, which need"));
    EXPECT_THAT(reply.reason(), HasSubstr("in use until they take over"));
    EXPECT_THAT(rig.ask("set", {{"grid.pixels", "[1200, 1200]"}}).reason(),
                HasSubstr("settings: [grid] pixels: found 1200 x 1200 pixels with 8 elements and 1 view, which need"));
    EXPECT_EQ(*rig.made, 1);
  }
  Rig alone(BackendKind::cpu, limited(1.02 * needed));
  static_cast<void>(alone.set({{"grid.pixels", "[120, 120]"}}));
  EXPECT_NO_THROW(static_cast<void>(alone.pipeline.open_stream(1, rig_acquisition())));
}

TEST(ControlRequests, ADeviceIsJudgedByItsOwnMemoryAndTheHostByWhatIsLeftToIt) {
  const auto on_device = [](const std::string& more) {
    std::string file(rig_file);
    return file.replace(file.find("threads = 1"), 11, "backend = \"cuda\"\n" + more);
  };
  Configuration large = parse_configuration(on_device(""), "scan.toml");
  large.grid.pixels = {120, 120};
  const auto setup = rig_setup(large);
  const auto of_host = static_cast<double>(host_memory(*setup, large.input.slots, {BackendKind::cuda, 1}));
  ASSERT_GT(static_cast<double>(host_memory(*setup, large.input.slots, {BackendKind::cpu, 1})), 1.5 * of_host)
      << "tables and signals are the device's";
  // Engines that take nothing of the host, and a device that has room for 200 columns.
  const auto engines = std::make_shared<EngineControl>();
  Rig rig(BackendKind::cuda, on_device("memory_limit = " + std::to_string(1.2 * of_host)), fake_engines(engines),
          [](const ImagingSetup& wanted) {
            if (columns_of(wanted) > 200) throw InputError("GPU 0", "too many columns", "at most 200");
          });
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  const wire::ControlReply fits = rig.ask("set", {{"grid.pixels", "[120, 120]"}});
  EXPECT_EQ(fits.outcome(), wire::DONE) << fits.reason();
  EXPECT_EQ(columns_of(*rig.pipeline.setup()), 120U);
  const wire::ControlReply refused = rig.ask("set", {{"grid.pixels", "[201, 20]"}});
  EXPECT_EQ(refused.outcome(), wire::REFUSED);
  EXPECT_EQ(refused.reason(), "GPU 0: found too many columns; expected at most 200");
  EXPECT_EQ(*rig.made, 2) << "none was built for what was refused";
  EXPECT_EQ(columns_of(*rig.pipeline.setup()), 120U);
}

TEST(ControlRequests, AfterTheEndEverythingIsRefused) {
  Rig rig;
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  std::jthread stopping([&] { rig.pipeline.stop(); });
  wire::ControlReply reply;
  std::uint64_t revision = 1;
  for (int k = 1; (reply = rig.ask("set", {{"output.gain_db", std::to_string(k % 100)}})).outcome() == wire::DONE; ++k)
    ++revision;
  EXPECT_EQ(reply.outcome(), wire::REFUSED);
  EXPECT_EQ(reply.reason(), "settings: the server is stopping");
  EXPECT_EQ(rig.control.revision(), revision);
}

TEST(ControlRequests, TextsOfAListMayGoWithoutQuotes) {
  Rig rig;
  rig.set({{"material.shear_velocity", "3100"}});
  for (const auto& [written, views] : std::vector<std::pair<std::string, std::string>>{{"TT", R"(["TT"])"},
                                                                                       {"LL,LT", R"(["LL", "LT"])"},
                                                                                       {"[TT, LL]", R"(["TT", "LL"])"},
                                                                                       {"[LT]", R"(["LT"])"},
                                                                                       {R"(["LL", "TT"])", R"(["LL", "TT"])"}}) {
    rig.set({{"imaging.views", written}});
    EXPECT_EQ(by_key(rig.ask("get")).at("imaging.views").value(), views) << written;
  }
  for (const std::string wrong : {"[TT", "LL,,TT", R"("TT)", "[[TT]]", "{TT}"}) {
    const wire::ControlReply reply = rig.ask("set", {{"imaging.views", wrong}});
    EXPECT_EQ(reply.outcome(), wire::REFUSED) << wrong;
    EXPECT_THAT(reply.reason(), testing::EndsWith("expected a list of texts, 1 to 16 of them")) << wrong;
  }
}

TEST(ControlRequests, AnActionThatTheConfigurationLacksIsRefusedWithWhatItWants) {
  Rig rig;
  rig.control.add(unavailable_action("clear_scan", "a server that keeps no scan", "[scan] path in its configuration"));
  const wire::ControlReply reply = rig.ask("clear_scan");
  EXPECT_EQ(reply.outcome(), wire::REFUSED);
  EXPECT_EQ(reply.reason(), "clear_scan: found a server that keeps no scan; expected [scan] path in its configuration");
  EXPECT_THAT(rig.ask("get").actions(), testing::Not(testing::Contains("clear_scan")));
  EXPECT_EQ(rig.ask("explode").reason(), "action: found \"explode\"; expected one of get, set, reset");
}

TEST(ControlRequests, UnknownAndAddedActions) {
  Rig rig;
  wire::ControlReply reply = rig.ask("explode");
  EXPECT_EQ(reply.outcome(), wire::REFUSED);
  EXPECT_EQ(reply.reason(), "action: found \"explode\"; expected one of get, set, reset");
  rig.control.add({"explode", false, [](const auto&, auto&) { throw RuntimeFault("it does not burn"); }});
  reply = rig.ask("explode");
  EXPECT_EQ(reply.outcome(), wire::FAILED);
  EXPECT_EQ(reply.reason(), "it does not burn");
  EXPECT_THAT(rig.ask("get").actions(), testing::Contains("explode"));
  wire::ControlRequest many;
  many.set_action("get");
  for (int k = 0; k < 100; ++k) many.add_keys("grid.x");
  EXPECT_EQ(rig.control.handle(many).reason(), "settings: found a request for more; expected at most 64 keys");
}

}  // namespace
}  // namespace echoform::test
