// Processes of a job as threads of one, so that tests need no MPI.
#pragma once

#include <algorithm>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include "jobs/communicator.hpp"

namespace echoform::test {

class Threads {
 public:
  explicit Threads(std::size_t size) : size_(size), meeting_(static_cast<std::ptrdiff_t>(size)), spans_(size), constants_(size) {}

  /// Runs body on each, to the end of all.
  void run(const std::function<void(Communicator&)>& body) {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < size_; ++rank) {
      threads.emplace_back([this, rank, &body] {
        One one(*this, rank);
        body(one);
      });
    }
  }

 private:
  class One final : public Communicator {
   public:
    One(Threads& all, std::size_t rank) : all_(all), rank_(rank) {}
    [[nodiscard]] std::size_t rank() const noexcept override { return rank_; }
    [[nodiscard]] std::size_t size() const noexcept override { return all_.size_; }
    void sum(std::span<float> values) override { sum_of_all(values); }
    void sum(std::span<double> values) override { sum_of_all(values); }
    void broadcast(std::span<std::byte> bytes) override {
      all_.spans_[rank_] = bytes;
      all_.meeting_.arrive_and_wait();
      if (rank_ != 0) std::ranges::copy(all_.spans_[0], bytes.begin());
      all_.meeting_.arrive_and_wait();
    }
    void gather(std::span<const float> own, std::span<float> all) override {
      all_.constants_[rank_] = own;
      all_.meeting_.arrive_and_wait();
      if (rank_ == 0) {
        auto to = all.begin();
        for (const auto& part : all_.constants_) to = std::ranges::copy(part, to).out;
      }
      all_.meeting_.arrive_and_wait();
    }
    void scatter(std::span<const float> all, std::span<float> own) override {
      all_.spans_[rank_] = std::as_writable_bytes(own);
      all_.meeting_.arrive_and_wait();
      if (rank_ == 0) {
        auto from = std::as_bytes(all);
        for (const auto& part : all_.spans_) {
          std::ranges::copy(from.first(part.size()), part.begin());
          from = from.subspan(part.size());
        }
      }
      all_.meeting_.arrive_and_wait();
    }
    void abort(int /*code*/) noexcept override { std::terminate(); }

   private:
    template <class Value>
    void sum_of_all(std::span<Value> values) {
      all_.spans_[rank_] = std::as_writable_bytes(values);
      all_.meeting_.arrive_and_wait();
      std::vector<double> total(values.size());
      for (const auto& part : all_.spans_) {
        const auto* const theirs = reinterpret_cast<const Value*>(part.data());
        for (std::size_t k = 0; k < total.size(); ++k) total[k] += static_cast<double>(theirs[k]);
      }
      all_.meeting_.arrive_and_wait();
      for (std::size_t k = 0; k < total.size(); ++k) values[k] = static_cast<Value>(total[k]);
    }
    Threads& all_;
    std::size_t rank_;
  };

  std::size_t size_;
  std::barrier<> meeting_;
  std::vector<std::span<std::byte>> spans_;
  std::vector<std::span<const float>> constants_;
};

}  // namespace echoform::test
