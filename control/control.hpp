// Live control: the settings in force, and the actions that read and change them while frames run.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "config/live_keys.hpp"
#include "pipeline/pipeline.hpp"
#include "proto/control.pb.h"

namespace echoform {

/// What a request may ask for. Throws InputError to refuse, RuntimeFault where it fails: then nothing has changed.
struct ControlAction {
  std::string name;
  /// Whether it is answered at once: it waits for no other request and never long.
  bool quick = false;
  std::function<void(const wire::ControlRequest&, wire::ControlReply&)> run;
};

/// Thread-safe. Requests that change something are served one after the other.
class Control {
 public:
  /// `file` is what the server started with, `stated` as build_plan() takes them. The pipeline outlives the control; its setup
  /// factory at first is first_setup_factory() of the same.
  Control(const Configuration& file, const Material& stated, Pipeline& pipeline);

  /// Setups of the configuration as the server starts with it: revision 1.
  [[nodiscard]] static SetupFactory first_setup_factory(const Configuration& file, const Material& stated);

  /// Adds an action; before the first request.
  void add(ControlAction action);

  /// Never throws: what goes wrong is the reply's outcome and reason.
  [[nodiscard]] wire::ControlReply handle(const wire::ControlRequest& request) noexcept;
  /// Whether the request waits for no other and never long.
  [[nodiscard]] bool is_quick(const wire::ControlRequest& request) const noexcept;

  /// Of the settings in force; images made by them carry it. Counts up from 1.
  [[nodiscard]] std::uint64_t revision() const;
  /// The settings in force.
  [[nodiscard]] Configuration configuration() const;

 private:
  /// A change failed because another had come first.
  class Conflict;

  [[nodiscard]] const ControlAction* find(std::string_view name) const noexcept;
  void get(const wire::ControlRequest& request, wire::ControlReply& reply) const;
  void set(const wire::ControlRequest& request, wire::ControlReply& reply);
  void reset(const wire::ControlRequest& request, wire::ControlReply& reply);
  void put_in_force(const Configuration& wanted, wire::ControlReply& reply);
  void fill(const LiveKey& live, const Configuration& configuration, wire::Setting& setting) const;

  const Configuration file_;
  const Material stated_;
  Pipeline& pipeline_;
  std::vector<ControlAction> actions_;

  std::mutex changing_;       // held by the one request that changes something
  mutable std::mutex mutex_;  // guards these, for moments
  Configuration current_;
  std::uint64_t revision_ = 1;
};

}  // namespace echoform
