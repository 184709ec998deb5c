// Live control: the settings in force, and the actions that read and change them while frames run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "config/key.hpp"
#include "config/settings_follower.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/scan.hpp"
#include "proto/control.pb.h"
#include "transport/control/control_action.hpp"

namespace echoform {

/// Thread-safe. Requests that change something are served one after the other.
class Control {
 public:
  /// `file` is what the server started with, `stated` the velocities that somebody else states of the part. The pipeline outlives
  /// the control; its setup factory at first is first_setup_factory() of the same.
  /// `scans` as there.
  Control(const Configuration& file, const Material& stated, Pipeline& pipeline, std::shared_ptr<ScanRecords> scans = nullptr);

  /// Setups of the configuration as the server starts with it: revision 1. Scans go on from `scans`; null: each sender's begins
  /// anew.
  [[nodiscard]] static SetupFactory first_setup_factory(const Configuration& file, const Material& stated,
                                                        std::shared_ptr<ScanRecords> scans = nullptr);

  /// Adds an action, or a follower; before the first request.
  void add(ControlAction action);
  void add(SettingsFollower follower);

  /// Never throws: what goes wrong is the reply's outcome and reason.
  [[nodiscard]] wire::ControlReply handle(const wire::ControlRequest& request) noexcept;
  /// Whether the request waits for no other and never long.
  [[nodiscard]] bool is_quick(const wire::ControlRequest& request) const noexcept;

  /// Of the settings in force; images made by them carry it. Counts up from 1.
  [[nodiscard]] std::uint64_t revision() const;
  /// The settings in force.
  [[nodiscard]] Configuration configuration() const;
  /// What is doubtful or will disappoint, a line each: of the setup in work, or of `settings` where there is none yet.
  [[nodiscard]] std::vector<std::string> warnings(const Configuration& settings) const;

 private:
  /// A change failed because another had come first.
  class Conflict;

  [[nodiscard]] const ControlAction* find(std::string_view name) const noexcept;
  void get(const wire::ControlRequest& request, wire::ControlReply& reply) const;
  void set(const wire::ControlRequest& request, wire::ControlReply& reply);
  void reset(const wire::ControlRequest& request, wire::ControlReply& reply);
  /// What the frames of the stream are, and what is doubtful.
  void fill_state(const Configuration& settings, wire::ControlReply& reply) const;
  void put_in_force(const Configuration& wanted, wire::ControlReply& reply);
  /// Null where nobody follows the key's section.
  [[nodiscard]] const SettingsFollower* follower_of(const Key& key) const;
  /// Live here: a key of an instrument is where there is one.
  [[nodiscard]] bool is_live(const Key& key) const;
  /// Those whose section has other values.
  [[nodiscard]] std::vector<const SettingsFollower*> followers_of(std::span<const Key* const> differing) const;
  void fill(std::span<const Key* const> keys, const Configuration& configuration, wire::ControlReply& reply) const;
  /// `used` is what images are made with, where there is a setup.
  void fill(const Key& key, const Configuration& configuration, const std::optional<Configuration>& used,
            wire::Setting& setting) const;

  const Configuration file_;
  const Material stated_;
  Pipeline& pipeline_;
  const std::shared_ptr<ScanRecords> scans_;
  std::vector<ControlAction> actions_;
  std::vector<SettingsFollower> followers_;

  std::mutex changing_;       // held by the one request that changes something
  mutable std::mutex mutex_;  // guards these, for moments
  Configuration current_;
  std::uint64_t revision_ = 1;
  std::uint64_t imaging_revision_ = 1;  // at which what images are made of last changed
};

}  // namespace echoform
