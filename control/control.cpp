#include "control/control.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "config/key_table.hpp"
#include "config/memory_text.hpp"
#include "control/in_use.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/setup.hpp"
#include "methods/tfm/standing_check.hpp"

namespace echoform {
namespace {

constexpr int changes_limit = 64;

/// Both engines are there until the new one takes over, so both must fit into the host's memory, of which they take what engines
/// of their backend do: refused before anything is allocated. A device judges for itself (PipelineOptions::require_device_room).
void check_room_beside(const Configuration& configuration, const ImagingSetup& setup, const Pipeline& pipeline) {
  const ImagingPlan& plan = plan_of(setup);
  const ImagedBy by{pipeline.options().backend.kind, configuration.imaging.threads};
  const double needed = memory_needed(plan, configuration.input.slots, by) -
                        static_cast<double>(configuration.input.slots * plan.acquisition.frame_bytes());
  const double limit = configuration.imaging.memory_limit.value_or(default_memory_limit());
  const double present = static_cast<double>(pipeline.host_bytes());
  if (needed + present <= limit) return;
  throw InputError("[grid] pixels",
                   fmt::format("{} x {} pixels and {} view{}, which need {} beside the {} in use until they take over",
                               plan.grid.x.count, plan.grid.z.count, plan.laws.size(), plan.laws.size() == 1 ? "" : "s",
                               memory_text(needed), memory_text(present)),
                   fmt::format("at most {} together ([imaging] memory_limit)", memory_text(limit)));
}

SetupFactory make_factory(const Configuration& configuration, const Material& stated, std::uint64_t revision) {
  return [configuration, stated, revision](const Acquisition& acquisition) {
    auto plan =
        std::make_shared<ImagingPlan>(*build_plan(configuration, acquisition, stated, configuration.input.slots, PlanUse::live));
    plan->settings_revision = revision;
    return make_imaging_setup(std::move(plan));
  };
}

}  // namespace

class Control::Conflict : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

Control::Control(const Configuration& file, const Material& stated, Pipeline& pipeline)
    : file_(file), stated_(stated), pipeline_(pipeline), current_(file) {
  add({"get", true, [this](const auto& request, auto& reply) { get(request, reply); }});
  add({"set", false, [this](const auto& request, auto& reply) { set(request, reply); }});
  add({"reset", false, [this](const auto& request, auto& reply) { reset(request, reply); }});
}

SetupFactory Control::first_setup_factory(const Configuration& file, const Material& stated) {
  return make_factory(file, stated, 1);
}

void Control::add(ControlAction action) {
  actions_.push_back(std::move(action));
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
    reply.set_reason(reason);
    // Of what peers send wrong the log tells only who asks for it.
    const auto level = outcome == wire::FAILED ? spdlog::level::warn : spdlog::level::debug;
    spdlog::log(level, "control: {}", reason);
  };
  try {
    const ControlAction* const action = find(request.action());
    if (action == nullptr) {
      std::string names;
      for (const ControlAction& known : actions_) names += (names.empty() ? "" : ", ") + known.name;
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
      reply.set_revision(revision());  // while nobody else can change anything
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
    // Read together: whoever changes what he has read names the revision to which it belongs.
    const std::lock_guard lock(mutex_);
    configuration = current_;
    reply.set_revision(revision_);
  }
  for (const std::string& path : request.keys()) fill(live_key(path), configuration, *reply.add_settings());
  if (request.keys().empty()) {
    for (const LiveKey& live : live_keys()) fill(live, configuration, *reply.add_settings());
  }
  for (const ControlAction& action : actions_) reply.add_actions(action.name);
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
  const auto back = [&](const LiveKey& live) { changes.push_back({live.path(), live.key().show(file_)}); };
  for (const std::string& path : request.keys()) back(live_key(path));
  if (request.keys().empty()) std::for_each(live_keys().begin(), live_keys().end(), back);
  Configuration wanted = configuration();
  apply_changes(changes, wanted);
  put_in_force(wanted, reply);
}

void Control::put_in_force(const Configuration& wanted, wire::ControlReply& reply) {
  const Configuration before = configuration();
  const auto differing = differing_keys(before, wanted);
  if (differing.empty()) return;
  const std::uint64_t revision = this->revision() + 1;
  // Messages name the settings, no longer the file.
  Configuration named = wanted;
  named.file = "settings";
  check_without_data(named, stated_);
  SettingsChange change;
  change.setup_factory = make_factory(named, stated_, revision);
  change.policy = wanted.input.drop_policy;
  const bool imaging =
      std::any_of(differing.begin(), differing.end(), [](const LiveKey* live) { return live->effect == LiveEffect::imaging; });
  if (!imaging) {
    change.retuned = [&](const ImagingSetup& setup) { return with_compression(setup, wanted.output, revision); };
  }
  change.check = [&](const ImagingSetup& setup) { check_room_beside(wanted, setup, pipeline_); };
  static_cast<void>(pipeline_.change(change));
  {
    const std::lock_guard lock(mutex_);
    current_ = wanted;
    revision_ = revision;
  }
  std::string text;
  for (const LiveKey* live : differing) {
    fill(*live, wanted, *reply.add_settings());
    const std::string value = live->key().show(wanted);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", live->path(), value.empty() ? "default" : value);
  }
  spdlog::info("control: settings {}: {}", revision, text);
}

void Control::fill(const LiveKey& live, const Configuration& configuration, wire::Setting& setting) const {
  const Key& key = live.key();
  setting.set_key(live.path());
  setting.set_value(key.show(configuration));
  if (setting.value().empty()) {
    if (const auto setup = pipeline_.setup()) setting.set_in_use(value_in_use(live, plan_of(*setup)));
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
  setting.set_effect(std::string(words::live_effect.of(live.effect)));
}

}  // namespace echoform
