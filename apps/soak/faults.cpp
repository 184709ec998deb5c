#include "apps/soak/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>

#include "apps/soak/fault_kinds.hpp"
#include "base/errors.hpp"
#include "methods/registry.hpp"

namespace echoform::soak {

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all{
      // Faults of the sender.
      {"sender_killed_in_mid_frame", sender_killed_in_mid_frame},
      {"sender_reset_in_mid_frame", sender_reset_in_mid_frame},
      {"truncated_message", truncated_message},
      {"sender_stalls_in_mid_message", sender_stalls_in_mid_message},
      {"corrupt_shot", corrupt_shot},
      {"sender_reconnects", sender_reconnects},
      {"another_acquisition", another_acquisition},
      {"missing_shots", missing_shots},
      {"duplicate_shots", duplicate_shots},
      {"stale_shots", stale_shots},
      {"reordered_shots", reordered_shots},
      {"sequence_gap", sequence_gap},
      {"sequence_restart", sequence_restart},
      {"sequence_wrap", sequence_wrap},
      {"nan_samples", nan_samples},
      {"saturated_samples", saturated_samples},
      {"burst", burst},
      // Faults of other peers at the endpoint for frames.
      {"second_sender", second_sender},
      {"garbage_connection", garbage_connection},
      {"corrupt_hello", corrupt_hello},
      {"truncated_hello", truncated_hello},
      {"shot_before_hello", shot_before_hello},
      {"connection_storm", connection_storm},
      {"silent_connection", silent_connection},
      {"trickling_hello", trickling_hello},
      // Faults of viewers and browsers.
      {"half_open_http", half_open_http},
      {"garbage_http", garbage_http},
      {"oversized_http_header", oversized_http_header},
      {"wrong_origin", wrong_origin},
      {"http_storm", http_storm},
      {"web_viewer_breaks_protocol", web_viewer_breaks_protocol},
      {"subscriber_storm", subscriber_storm},
      {"zeromq_garbage", zeromq_garbage},
      // Attacks of many clients at once, to exhaust the server.
      {"subscriptions_to_images", subscriptions_to_images},
      {"subscriptions_to_telemetry", subscriptions_to_telemetry},
      {"requests_to_control", requests_to_control},
      {"control_parts_without_end", control_parts_without_end},
      {"silent_zeromq_connections", silent_zeromq_connections},
      {"pipelining_readers", pipelining_readers},
      // Faults of the reader of the log.
      {"log_nobody_reads", log_nobody_reads},
      // Requests of the client that controls the server.
      {"live_settings", live_settings},
      {"refused_settings", refused_settings},
      {"recording_starts_and_stops", recording_starts_and_stops},
      // Faults of the disk.
      {"recording_begins_on_a_full_disk", recording_begins_on_a_full_disk},
      {"disk_fills_while_recording", disk_fills_while_recording},
      {"configuration_cannot_be_read", configuration_cannot_be_read},
  };
  return all;
}

std::vector<Fault> chosen_faults(const std::vector<std::string>& names) {
  if (names.empty()) return faults();
  std::vector<Fault> chosen;
  for (const std::string& name : names) {
    const auto at = std::find_if(faults().begin(), faults().end(), [&](const Fault& fault) { return fault.name == name; });
    if (at == faults().end()) {
      std::string list;
      for (const Fault& fault : faults()) list += fmt::format("{}{}", list.empty() ? "" : ", ", fault.name);
      throw InputError("--fault", fmt::format("\"{}\"", name), list);
    }
    chosen.push_back(*at);
  }
  return chosen;
}

void Lingering::add(std::string_view fault, RawConnection connection, std::vector<Count> counts, std::string drip) {
  entries_.push_back({fault, std::move(connection), std::move(counts), std::move(drip), 0, std::chrono::steady_clock::now()});
}

void Lingering::look(Judge& judge, std::chrono::seconds limit) {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(entries_, [&](Entry& entry) {
    if (entry.connection.closed_by_peer()) {
      for (const Count& count : entry.counts) judge.expectations().arrived(count.counter, count.count);
      return true;
    }
    if (entry.dripped < entry.drip.size()) {
      static_cast<void>(entry.connection.send(std::string_view(entry.drip).substr(entry.dripped++, 1)));
    }
    if (now - entry.since > limit) {
      judge.verdict().fail(fmt::format("{}: the server has not ended the connection within {} s", entry.fault, limit.count()));
    }
    return false;
  });
}

bool FaultContext::await_departure() const {
  return await() && judge.await(name, "gone: the sender's connections are still open", [&](const Counters& found) {
    return value_of(found, counter::connections_open) <= lingering.open();
  });
}

FaultRunner::FaultRunner(std::vector<Fault> order, std::uint64_t seed, Traffic& traffic, Judge& judge, ServerProcess& server,
                         GoodViewer& good, const Places& places, const Configuration& configuration, double slack)
    : judge_(judge),
      server_(server),
      good_(good),
      places_(places),
      configuration_(configuration),
      acquisition_(acquisition_of(simulated_source(configuration))),
      slack_(slack),
      thread_(
          [this, seed, &traffic, order = std::move(order)](const std::stop_token& stop) { run(stop, order, seed, traffic); }) {}

void FaultRunner::inject(const Fault& fault, std::mt19937_64& random, Traffic& traffic) {
  try {
    fault.inject({fault.name, random, traffic, judge_, lingering_, server_.id(), server_.log(), good_, places_, configuration_,
                  acquisition_, slack_});
  } catch (const std::exception& error) {
    judge_.verdict().fail(fmt::format("{}: {}", fault.name, error.what()));
  }
  const std::lock_guard lock(mutex_);
  ++counts_[std::string(fault.name)];
}

void FaultRunner::run(const std::stop_token& stop, std::vector<Fault> order, std::uint64_t seed, Traffic& traffic) {
  using namespace std::chrono_literals;
  std::mt19937_64 random(seed);
  // std::shuffle differs between libraries; this gives the same order for the same seed everywhere.
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  const std::stop_token ended = judge_.verdict().token();
  const auto limit = std::chrono::duration_cast<std::chrono::seconds>(
      patience + std::chrono::duration<double>(configuration_.input.hello_timeout.value));
  std::mutex never_mutex;
  std::condition_variable_any never;
  const auto wait = [&](std::chrono::milliseconds time) {
    std::unique_lock lock(never_mutex);
    never.wait_for(lock, stop, time, [&] { return ended.stop_requested(); });
    lingering_.look(judge_, limit);
  };
  std::size_t next = 0;
  while (!stop.stop_requested() && !ended.stop_requested()) {
    if (next < order.size()) {
      inject(order[next++], random, traffic);
      lingering_.look(judge_, limit);
      all_done_ = next == order.size();
      continue;
    }
    for (std::uint64_t slices = random() % 11; slices > 0 && !stop.stop_requested() && !ended.stop_requested(); --slices)
      wait(100ms);
    if (stop.stop_requested() || lingering_.open() > 4) continue;
    inject(order[random() % order.size()], random, traffic);
  }
  while (lingering_.open() > 0 && !judge_.verdict().failure()) {
    std::this_thread::sleep_for(50ms);  // between checks; the server decides
    lingering_.look(judge_, limit);
  }
}

void FaultRunner::finish() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t FaultRunner::injected() const {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : counts()) sum += count;
  return sum;
}

std::map<std::string, std::uint64_t> FaultRunner::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace echoform::soak
