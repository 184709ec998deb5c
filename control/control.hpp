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
  /// `file` is the configuration that the server started with. `stated` holds the velocities of the part that another
  /// source states. The pipeline outlives the control, and its first setup factory is first_setup_factory() of the same
  /// arguments. `scans` is as for first_setup_factory().
  Control(const Configuration& file, const Material& stated, Pipeline& pipeline, std::shared_ptr<ScanRecords> scans = nullptr);

  /// Makes setups of the configuration that the server starts with: revision 1. Scans go on from `scans`; if it is null,
  /// the scan of each sender begins anew.
  [[nodiscard]] static SetupFactory first_setup_factory(const Configuration& file, const Material& stated,
                                                        std::shared_ptr<ScanRecords> scans = nullptr);

  /// Adds an action or a follower. Call it before the first request.
  void add(ControlAction action);
  void add(SettingsFollower follower);

  /// Never throws: the reply states the outcome and the reason of a failure.
  [[nodiscard]] wire::ControlReply handle(const wire::ControlRequest& request) noexcept;
  /// Whether the request waits for no other request and never takes long.
  [[nodiscard]] bool is_quick(const wire::ControlRequest& request) const noexcept;

  /// The revision of the settings in force, counted up from 1. Images that are made by these settings carry it.
  [[nodiscard]] std::uint64_t revision() const;
  /// The settings in force.
  [[nodiscard]] Configuration configuration() const;
  /// Warnings about values that are doubtful or will disappoint, one line each. They concern the setup in work, or
  /// `settings` where there is no setup yet.
  [[nodiscard]] std::vector<std::string> warnings(const Configuration& settings) const;

 private:
  /// A change failed because another had come first.
  class Conflict;

  [[nodiscard]] const ControlAction* find(std::string_view name) const noexcept;
  void get(const wire::ControlRequest& request, wire::ControlReply& reply) const;
  void set(const wire::ControlRequest& request, wire::ControlReply& reply);
  void reset(const wire::ControlRequest& request, wire::ControlReply& reply);
  /// States what the frames of the stream are, and what is doubtful.
  void fill_state(const Configuration& settings, wire::ControlReply& reply) const;
  void put_in_force(const Configuration& wanted, wire::ControlReply& reply);
  /// The follower of the key's section; null where there is none.
  [[nodiscard]] const SettingsFollower* follower_of(const Key& key) const;
  /// Whether the key is live on this server. A key of an instrument is live only where an instrument is connected.
  [[nodiscard]] bool is_live(const Key& key) const;
  /// The followers whose section has values that differ.
  [[nodiscard]] std::vector<const SettingsFollower*> followers_of(std::span<const Key* const> differing) const;
  void fill(std::span<const Key* const> keys, const Configuration& configuration, wire::ControlReply& reply) const;
  /// `used` is the configuration that images are made with, where there is a setup.
  void fill(const Key& key, const Configuration& configuration, const std::optional<Configuration>& used,
            wire::Setting& setting) const;

  const Configuration file_;
  const Material stated_;
  Pipeline& pipeline_;
  const std::shared_ptr<ScanRecords> scans_;
  std::vector<ControlAction> actions_;
  std::vector<SettingsFollower> followers_;

  std::mutex changing_;       // held by the one request that changes something
  mutable std::mutex mutex_;  // guards these, and is held only briefly
  Configuration current_;
  std::uint64_t revision_ = 1;
  std::uint64_t imaging_revision_ = 1;  // at the last change of what images are made of
};

}  // namespace echoform
