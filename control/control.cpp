#include "control/control.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "config/memory_limit.hpp"
#include "config/memory_text.hpp"
#include "methods/display_settings.hpp"
#include "methods/doubtful.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "methods/unread_keys.hpp"
#include "pipeline/frame_intake.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/setup_memory.hpp"
#include "settings/hidden_folders.hpp"
#include "settings/imaging_lines.hpp"
#include "settings/key_table.hpp"
#include "settings/live_keys.hpp"

namespace echoform {
namespace {

constexpr int changes_limit = 64;

/// Both engines exist until the new one takes over. So both must fit into the host's memory, of which each takes the amount that
/// engines of its backend take. The change is refused before anything is allocated. A device checks its own memory
/// (PipelineOptions::require_device_room).
void check_room_beside(const Configuration& configuration, const ImagingSetup& setup, const Pipeline& pipeline) {
  const std::size_t slots = configuration.input.slots;
  const StageSite site{pipeline.options().backend.kind, configuration.imaging.threads};
  auto needed = static_cast<double>(host_memory(setup, slots, site) - slots * setup.acquisition.frame_bytes());
  // A scan that continues is shared by both engines.
  const auto before = pipeline.setup();
  const bool goes_on =
      setup.scan != nullptr && before != nullptr && before->scan != nullptr && setup.scan->record == before->scan->record;
  if (goes_on) needed -= static_cast<double>(setup.scan->record->bytes());
  const double limit = memory_limit(configuration);
  const double present = static_cast<double>(pipeline.host_bytes());
  if (needed + present <= limit) return;
  const std::size_t views = setup.recipe.views().size();
  throw InputError(
      "[grid] pixels",
      fmt::format("{} pixels and {} view{}, which need {} beside the {} in use until they take over",
                  text_of(configuration.grid.pixels), views, views == 1 ? "" : "s", memory_text(needed), memory_text(present)),
      fmt::format("at most {} together ([imaging] memory_limit)", memory_text(limit)));
}

SetupFactory make_factory(const Configuration& configuration, const Material& stated, std::uint64_t revision,
                          std::uint64_t imaging_revision, const std::shared_ptr<ScanRecords>& scans) {
  const auto resolve = [configuration, stated, revision, imaging_revision, scans](const Acquisition& acquisition) {
    auto setup =
        resolve_imaging({.configuration = configuration,
                         .acquisition = acquisition,
                         .stated = {stated, {}},
                         .frames_in_flight = configuration.input.slots,
                         .use = ImagingUse::live,
                         .settings_revision = revision,
                         .scans = scans.get(),
                         .imaging_revision = imaging_revision,
                         .scan_settings = keeps_scan(configuration) ? imaging_lines(configuration) : std::vector<std::string>{}});
    log_findings(*setup);
    return setup;
  };
  return [resolve, configuration](const Acquisition& acquisition) {
    try {
      return resolve(acquisition);
    } catch (const PlanningEnded&) {
      throw;
    } catch (const InputError& error) {
      throw StreamRefused(error.what(), without_folders(error.what(), configuration));
    }
  };
}

/// The settings that a setup uses, with the values of `asked` where the setup states none.
Configuration settings_in_use(const ImagingSetup& setup, Configuration asked) {
  const GridSection grid = asked.grid;
  const DisplaySection display = section<DisplaySection>(asked);
  if (const Method* const method = find_method(setup.method)) method->show_in_use(setup, asked);
  if (setup.scan != nullptr) {  // the method makes only a part of the scan's image
    asked.grid = grid;
    section<DisplaySection>(asked) = display;
  }
  return asked;
}

/// Makes a follower return to the settings before: a change that was refused elsewhere holds nowhere.
void take_back(const SettingsFollower& follower, const Configuration& before) noexcept {
  try {
    follower.follow(before);
  } catch (const std::exception& error) {
    spdlog::warn("control: [{}] is not as it was: {}", follower.section, error.what());
  }
}

}  // namespace

class Control::Conflict : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

Control::Control(const Configuration& file, const Material& stated, Pipeline& pipeline, std::shared_ptr<ScanRecords> scans)
    : file_(file), stated_(stated), pipeline_(pipeline), scans_(std::move(scans)), current_(file) {
  add({"get", true, [this](const auto& request, auto& reply) { get(request, reply); }});
  add({"set", false, [this](const auto& request, auto& reply) { set(request, reply); }});
  add({"reset", false, [this](const auto& request, auto& reply) { reset(request, reply); }});
}

SetupFactory Control::first_setup_factory(const Configuration& file, const Material& stated, std::shared_ptr<ScanRecords> scans) {
  return make_factory(file, stated, 1, 1, scans);
}

void Control::add(ControlAction action) {
  // An available action replaces an unavailable one of the same name.
  std::erase_if(actions_, [&](const ControlAction& known) { return known.name == action.name && !known.available; });
  actions_.push_back(std::move(action));
}

void Control::add(SettingsFollower follower) {
  followers_.push_back(std::move(follower));
}

const SettingsFollower* Control::follower_of(const Key& key) const {
  const auto found =
      std::find_if(followers_.begin(), followers_.end(), [&](const SettingsFollower& f) { return f.section == key.section; });
  return found == followers_.end() ? nullptr : &*found;
}

bool Control::is_live(const Key& key) const {
  return key.live != LiveEffect::instrument || follower_of(key) != nullptr;
}

std::vector<const SettingsFollower*> Control::followers_of(std::span<const Key* const> differing) const {
  std::vector<const SettingsFollower*> concerned;
  for (const Key* const key : differing) {
    if (key->live != LiveEffect::instrument) continue;
    const SettingsFollower* const follower = follower_of(*key);
    if (follower == nullptr) {
      throw InputError(fmt::format("[{}] {}", key->section, key->name), "a change without such an instrument",
                       fmt::format("a server that connects to one: [{}] connect", key->section));
    }
    if (std::find(concerned.begin(), concerned.end(), follower) == concerned.end()) concerned.push_back(follower);
  }
  return concerned;
}

const ControlAction* Control::find(std::string_view name) const noexcept {
  const auto found = std::find_if(actions_.begin(), actions_.end(), [&](const ControlAction& a) { return a.name == name; });
  return found == actions_.end() ? nullptr : &*found;
}

bool Control::is_quick(const wire::ControlRequest& request) const noexcept {
  const ControlAction* const action = find(request.action());
  return action == nullptr || action->quick;
}

wire::ControlReply Control::handle(const wire::ControlRequest& request) noexcept {
  wire::ControlReply reply;
  const auto fail = [&](wire::ControlOutcome outcome, const char* reason) {
    reply.Clear();
    reply.set_outcome(outcome);
    reply.set_reason(without_folders(reason, file_));
    // Invalid requests of peers appear in the log at debug level only.
    const auto level = outcome == wire::FAILED ? spdlog::level::warn : spdlog::level::debug;
    spdlog::log(level, "control: {}", reason);
  };
  try {
    const ControlAction* const action = find(request.action());
    if (action == nullptr) {
      std::string names;
      for (const ControlAction& known : actions_) {
        if (known.available) names += (names.empty() ? "" : ", ") + known.name;
      }
      throw InputError("action",
                       request.action().size() > 64 ? std::string("a long one") : fmt::format("\"{}\"", request.action()),
                       "one of " + names);
    }
    if (request.changes_size() > changes_limit || request.keys_size() > changes_limit)
      throw InputError("settings", "a request for more", fmt::format("at most {} keys", changes_limit));
    reply.set_outcome(wire::DONE);
    if (action->quick) {
      action->run(request, reply);
    } else {
      const std::lock_guard turn(changing_);
      const std::uint64_t expected = request.expected_revision();
      if (expected != 0 && expected != revision())
        throw Conflict(
            fmt::format("settings revision: found {}; expected {}: they have changed meanwhile", revision(), expected));
      action->run(request, reply);
      reply.set_revision(revision());  // no other request can change anything meanwhile
    }
  } catch (const Conflict& conflict) {
    fail(wire::CONFLICT, conflict.what());
  } catch (const InputError& error) {
    fail(wire::REFUSED, error.what());
  } catch (const std::exception& error) {
    fail(wire::FAILED, error.what());
  }
  if (reply.revision() == 0) reply.set_revision(revision());
  reply.set_streaming(pipeline_.setup() != nullptr);
  reply.set_server(fmt::format("{} {}", file_.server.name, ECHOFORM_VERSION));
  return reply;
}

std::uint64_t Control::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

Configuration Control::configuration() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void Control::get(const wire::ControlRequest& request, wire::ControlReply& reply) const {
  Configuration configuration;
  {
    // The settings and the revision are read together: a client that changes what it has read names the revision to which that
    // belongs.
    const std::lock_guard lock(mutex_);
    configuration = current_;
    reply.set_revision(revision_);
  }
  std::vector<const Key*> keys;
  for (const std::string& path : request.keys()) keys.push_back(&live_key(path));
  const Method& method = method_of(configuration);
  if (request.keys().empty())
    std::copy_if(live_keys().begin(), live_keys().end(), std::back_inserter(keys), [&](const Key* key) {
      return is_live(*key) && (reads_key(method, *key) || key->show(configuration) != key->show(file_));
    });
  fill(keys, configuration, reply);
  for (const ControlAction& action : actions_) {
    if (action.available) reply.add_actions(action.name);
  }
  fill_state(configuration, reply);
}

void Control::set(const wire::ControlRequest& request, wire::ControlReply& reply) {
  if (request.changes().empty()) throw InputError("settings", "no change", "at least one KEY and its value");
  std::vector<KeyChange> changes;
  for (const wire::KeyChange& change : request.changes()) changes.push_back({change.key(), change.value()});
  Configuration wanted = configuration();
  apply_changes(changes, wanted);
  put_in_force(wanted, reply);
}

void Control::reset(const wire::ControlRequest& request, wire::ControlReply& reply) {
  std::vector<KeyChange> changes;
  const auto back = [&](const Key& key) { changes.push_back({key.path(), key.show(file_)}); };
  for (const std::string& path : request.keys()) back(live_key(path));
  if (request.keys().empty()) std::for_each(live_keys().begin(), live_keys().end(), [&](const Key* key) { back(*key); });
  Configuration wanted = configuration();
  apply_changes(changes, wanted);
  put_in_force(wanted, reply);
}

void Control::put_in_force(const Configuration& wanted, wire::ControlReply& reply) {
  const Configuration before = configuration();
  const auto differing = differing_keys(before, wanted);
  if (differing.empty()) return;
  const std::uint64_t revision = this->revision() + 1;
  // Messages name the settings instead of the file.
  Configuration named = wanted;
  named.file = "settings";
  const Method& method = method_of(named);
  require_backend(named);
  method.check(named, stated_);
  const UnreadKeys unread = find_unread_keys(named, method);
  check_scan(named);
  SettingsChange change;
  const bool imaging =
      std::any_of(differing.begin(), differing.end(), [](const Key* key) { return key->live == LiveEffect::imaging; });
  const std::uint64_t imaging_revision = imaging ? revision : imaging_revision_;
  change.setup_factory = make_factory(named, stated_, revision, imaging_revision, scans_);
  change.policy = wanted.input.drop_policy;
  if (!imaging) {
    change.retuned = [&](const ImagingSetup& setup) -> std::shared_ptr<const ImagingSetup> {
      const auto retuned = retune_imaging(setup, wanted, revision);
      if (!retuned) return nullptr;
      // What was found when the setup was resolved still holds.
      auto next = std::make_shared<ImagingSetup>(*retuned);
      next->notes = setup.notes;
      next->warnings = setup.warnings;
      next->unread = setup.unread;
      tell_unread_keys(named, unread, *next);
      return next;
    };
  }
  change.check = [&](const ImagingSetup& setup) { check_room_beside(wanted, setup, pipeline_); };
  const auto followers = followers_of(differing);
  std::size_t followed = 0;
  try {
    for (; followed < followers.size(); ++followed) followers[followed]->follow(named);
    static_cast<void>(pipeline_.change(change));
  } catch (const std::exception&) {
    for (std::size_t k = 0; k < followed; ++k) take_back(*followers[k], before);
    throw;
  }
  {
    const std::lock_guard lock(mutex_);
    current_ = wanted;
    revision_ = revision;
    imaging_revision_ = imaging_revision;
  }
  std::string text;
  for (const Key* const key : differing) {
    const std::string value = key->show(wanted);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key->path(), value.empty() ? "default" : value);
  }
  spdlog::info("control: settings {}: {}", revision, text);
  fill(differing, wanted, reply);
  fill_state(named, reply);
}

void Control::fill_state(const Configuration& settings, wire::ControlReply& reply) const {
  if (const auto setup = pipeline_.setup()) reply.set_acquisition(acquisition_text(setup->acquisition));
  for (const std::string& line : warnings(settings)) reply.add_warnings(line);
}

std::vector<std::string> Control::warnings(const Configuration& settings) const {
  const auto setup = pipeline_.setup();
  std::vector<std::string> lines = setup ? setup->warnings : doubtful_settings(settings);
  if (!setup) {
    for (std::string& line : find_unread_keys(settings, method_of(settings)).warnings) lines.push_back(std::move(line));
  }
  for (std::string& line : lines) line = without_folders(std::move(line), file_);  // every reader of telemetry gets these lines
  return lines;
}

void Control::fill(std::span<const Key* const> keys, const Configuration& configuration, wire::ControlReply& reply) const {
  std::optional<Configuration> in_use;
  if (const auto setup = pipeline_.setup()) in_use = settings_in_use(*setup, configuration);
  for (const Key* const key : keys) fill(*key, configuration, in_use, *reply.add_settings());
}

void Control::fill(const Key& key, const Configuration& configuration, const std::optional<Configuration>& used,
                   wire::Setting& setting) const {
  setting.set_key(key.path());
  setting.set_value(key.show(configuration));
  if (used) {
    std::string in_use = key.show(*used);
    if (in_use != setting.value()) setting.set_in_use(std::move(in_use));
  }
  setting.set_file_value(key.show(file_));
  setting.set_type(key.words.empty() ? key.type : "word");
  for (const std::string& word : key.words) setting.add_words(word);
  setting.set_unit(std::string(key.unit));
  setting.set_range(key.range);
  if (std::isfinite(key.low)) setting.set_low(key.low);
  if (std::isfinite(key.high)) setting.set_high(key.high);
  setting.set_default_value(key.default_text);
  setting.set_help(std::string(key.help));
  setting.set_effect(std::string(words::live_effect.of(key.live.value())));
}

}  // namespace echoform
