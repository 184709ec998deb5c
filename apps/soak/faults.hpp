// Everything that goes wrong during a soak: one table, one line to add a fault.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "apps/soak/judge.hpp"
#include "apps/soak/raw_connection.hpp"
#include "apps/soak/server_process.hpp"
#include "apps/soak/traffic.hpp"
#include "apps/soak/viewers.hpp"

namespace echoform::soak {

/// Connections that the server shall end by itself after a while; meanwhile other faults go on.
class Lingering {
 public:
  struct Count {
    std::string_view counter;
    std::uint64_t count = 1;
  };
  /// `counts` were foretold with add_later(). Where `drip` is not empty, a byte of it goes out at every look.
  void add(std::string_view fault, RawConnection connection, std::vector<Count> counts, std::string drip = {});
  /// Looks which have ended. Those that have not within `limit` are a violation.
  void look(Judge& judge, std::chrono::seconds limit);
  [[nodiscard]] std::size_t open() const { return entries_.size(); }

 private:
  struct Entry {
    std::string_view fault;
    RawConnection connection;
    std::vector<Count> counts;
    std::string drip;
    std::size_t dripped = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<Entry> entries_;
};

/// The objects that a fault uses. A fault adds every expected count before it causes it, and waits until the count has come,
/// so that effects of different faults cannot be confused.
struct FaultContext {
  std::string_view name;  ///< of the fault
  std::mt19937_64& random;
  Traffic& traffic;
  Judge& judge;
  Lingering& lingering;
  pid_t server;
  ServerLog& server_log;
  GoodViewer& good;
  const Places& places;
  const Configuration& configuration;
  const Acquisition& acquisition;  ///< of the configured simulator
  double slack;                    ///< times that limits of an attack's pauses are longer than on a quiet machine

  void expect(std::string_view counter, std::uint64_t count = 1) const { judge.expectations().add(counter, count); }
  [[nodiscard]] std::uint64_t pick(std::uint64_t least, std::uint64_t most) const {
    return least + random() % (most - least + 1);
  }
  /// Waits for the expected counts, except for those of frames while the sender goes on.
  bool await() const { return judge.await(name); }
  /// Waits until the server has finished every frame. Call it in a task of the traffic.
  bool settle() const { return judge.await(name, true); }
  /// Waits until the server has noticed that the sender is gone. Call it in a task of the traffic.
  bool await_departure() const;
};

struct Fault {
  std::string_view name;
  void (*inject)(const FaultContext&);
};

[[nodiscard]] const std::vector<Fault>& faults();
/// The faults of these names; all where `names` is empty. Throws InputError for an unknown name.
[[nodiscard]] std::vector<Fault> chosen_faults(const std::vector<std::string>& names);

/// Injects faults from a thread of its own: first each once, in an order drawn from the seed, then drawn at random with pauses of
/// up to a second.
class FaultRunner {
 public:
  FaultRunner(std::vector<Fault> order, std::uint64_t seed, Traffic& traffic, Judge& judge, ServerProcess& server,
              GoodViewer& good, const Places& places, const Configuration& configuration, double slack);

  /// Whether each fault has been injected at least once.
  [[nodiscard]] bool all_done() const { return all_done_.load(); }
  /// Ends after the fault under way; waits until the server has ended what lingers.
  void finish();
  [[nodiscard]] std::uint64_t injected() const;
  /// How often each.
  [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;

 private:
  void run(const std::stop_token& stop, std::vector<Fault> order, std::uint64_t seed, Traffic& traffic);
  void inject(const Fault& fault, std::mt19937_64& random, Traffic& traffic);

  Judge& judge_;
  ServerProcess& server_;
  GoodViewer& good_;
  const Places& places_;
  const Configuration& configuration_;
  const Acquisition acquisition_;
  Lingering lingering_;
  const double slack_;
  std::atomic<bool> all_done_{false};
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
  std::jthread thread_;
};

}  // namespace echoform::soak
