#include "benchmarks/micropulse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "base/clock.hpp"
#include "base/errors.hpp"
#include "benchmarks/counting_intake.hpp"
#include "instruments/micropulse/instrument_settings.hpp"
#include "instruments/micropulse/micropulse_source.hpp"

namespace echoform::benchmarks {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::steady_clock;

constexpr std::size_t read_bytes = std::size_t{1} << 18;
constexpr std::size_t state_bytes = 18;

/// The acquisition for which the instrument is set up.
Acquisition acquisition_of(const MicropulseCase& test, const micropulse::InstrumentSettings& settings) {
  Acquisition wanted;
  wanted.probe = make_linear_probe(test.elements, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz{});
  wanted.samples = test.samples;
  return micropulse::instrument_acquisition(std::move(wanted), settings, "bench micropulse");
}

/// A buffered cycle: the message with the encoders, and an A-scan for each pair.
std::vector<std::uint8_t> cycle_of(const MicropulseCase& test) {
  std::vector<std::uint8_t> bytes(state_bytes);
  bytes[0] = 0x15;
  const std::size_t message = 8 + 2 * test.samples;
  for (std::size_t element = 0; element < test.elements; ++element) {
    for (std::size_t channel = 0; channel < test.elements; ++channel) {
      const std::size_t number = micropulse::first_test + element - 1;
      const std::array<std::uint8_t, 8> header{0x1A,
                                               static_cast<std::uint8_t>(message),
                                               static_cast<std::uint8_t>(message >> 8),
                                               static_cast<std::uint8_t>(message >> 16),
                                               static_cast<std::uint8_t>(number),
                                               static_cast<std::uint8_t>(number >> 8 | 1U << 3),
                                               4,
                                               static_cast<std::uint8_t>(channel)};
      bytes.insert(bytes.end(), header.begin(), header.end());
      for (std::size_t k = 0; k < 2 * test.samples; ++k)
        bytes.push_back(static_cast<std::uint8_t>((bytes.size() * 2654435761U) >> 13));
    }
  }
  return bytes;
}

/// A bare instrument, which detects only whether RST, STA and STRS are among the commands.
class BareInstrument {
 public:
  /// Sends the cycle `cycles` times.
  BareInstrument(std::span<const std::uint8_t> cycle, std::size_t cycles, const MicropulseCase& test)
      : cycle_(cycle), cycles_(cycles), test_(test), thread_([this] { run(); }) {}
  ~BareInstrument() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    if (thread_.joinable()) thread_.join();
  }
  BareInstrument(const BareInstrument&) = delete;
  BareInstrument& operator=(const BareInstrument&) = delete;

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  /// Time at which the first byte of a cycle was sent.
  [[nodiscard]] steady_clock::time_point began() { return began_.get_future().get(); }

 private:
  void run() {
    try {
      tcp::socket peer = acceptor_.accept();
      peer.set_option(tcp::no_delay(true));
      std::array<std::uint8_t, 32> info{0x23};
      info[2] = static_cast<std::uint8_t>(test_.elements);
      info[4] = 0x50;
      info[9] = 50;
      info[17] = static_cast<std::uint8_t>((test_.elements >> 8) + 1);
      await(peer, "RST");
      asio::write(peer, asio::buffer(info));
      await(peer, "STA");
      asio::write(peer, asio::buffer(cycle_.data(), state_bytes));
      await(peer, "STRS");
      const auto begin = steady_clock::now();
      began_.set_value(begin);
      for (std::size_t k = 0; k < cycles_; ++k) send_cycle(peer, begin, k);
      boost::system::error_code end;
      std::array<char, 4096> scratch{};
      while (!end) static_cast<void>(peer.read_some(asio::buffer(scratch), end));
    } catch (const std::exception&) {
      try {
        began_.set_exception(std::current_exception());
      } catch (const std::future_error&) {
        // Sending had begun already; the reader notices the end of the connection.
      }
    }
  }

  /// Sends a cycle in pieces, each at the time that the rate allows.
  void send_cycle(tcp::socket& peer, steady_clock::time_point begin, std::size_t number) {
    constexpr std::size_t piece = std::size_t{1} << 16;
    for (std::size_t at = 0; at < cycle_.size(); at += piece) {
      if (test_.bytes_per_second > 0.0) {
        const std::chrono::duration<double> due(static_cast<double>(number * cycle_.size() + at) / test_.bytes_per_second);
        std::this_thread::sleep_until(begin + std::chrono::duration_cast<steady_clock::duration>(due));
      }
      asio::write(peer, asio::buffer(cycle_.data() + at, std::min(piece, cycle_.size() - at)));
    }
  }

  void await(tcp::socket& peer, const std::string& mnemonic) {
    std::array<char, 4096> piece{};
    std::size_t place = std::string::npos;
    while ((place = heard_.find(mnemonic)) == std::string::npos) {
      heard_.append(piece.data(), peer.read_some(asio::buffer(piece)));
    }
    heard_.erase(0, place + mnemonic.size());
  }

  const std::span<const std::uint8_t> cycle_;
  const std::size_t cycles_;
  const MicropulseCase test_;
  asio::io_context context_;
  tcp::acceptor acceptor_{context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::promise<steady_clock::time_point> began_;
  std::string heard_;
  std::thread thread_;
};

/// Reports when the last shot has arrived.
class EndingHost final : public StreamHost {
 public:
  EndingHost(std::vector<std::byte>& memory, std::size_t shots) : memory_(memory), shots_(shots) {}
  std::shared_ptr<FrameIntake> open_stream(std::uint64_t, const Acquisition& acquisition) override {
    return std::make_shared<Intake>(acquisition, memory_, shots_, ended_);
  }
  [[nodiscard]] steady_clock::time_point ended() { return ended_.get_future().get(); }

 private:
  class Intake final : public CountingIntake {
   public:
    Intake(const Acquisition& acquisition, std::vector<std::byte>& memory, std::size_t last,
           std::promise<steady_clock::time_point>& ended)
        : CountingIntake(acquisition, memory), last_(last), ended_(ended) {}
    void finish_shot(LaneId lane, std::uint64_t ticket) override {
      CountingIntake::finish_shot(lane, ticket);
      if (shots == last_) ended_.set_value(steady_clock::now());
    }

   private:
    const std::size_t last_;
    std::promise<steady_clock::time_point>& ended_;
  };

  std::vector<std::byte>& memory_;
  const std::size_t shots_;
  std::promise<steady_clock::time_point> ended_;
};

double seconds(steady_clock::time_point from, steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

MicropulseRates measure_micropulse(const MicropulseCase& test) {
  if (test.elements < 1 || test.elements > 256) throw InputError("elements", fmt::format("{}", test.elements), "1 to 256");
  const micropulse::InstrumentSettings settings;
  const Acquisition acquisition = acquisition_of(test, settings);
  const std::vector<std::uint8_t> cycle = cycle_of(test);
  const std::size_t cycles = std::max<std::size_t>(1, (test.bytes_per_round + cycle.size() - 1) / cycle.size());
  const auto bytes = static_cast<double>(cycles * cycle.size());
  std::vector<std::byte> memory(ingest_slots * acquisition.frame_bytes() + read_bytes, std::byte{1});

  const SystemClock clock;
  const auto through_source = [&] {
    BareInstrument instrument(cycle, cycles, test);
    EndingHost host(memory, cycles * test.elements);
    micropulse::SourceOptions options;
    options.host = "127.0.0.1";
    options.port = instrument.port();
    options.acquisition = acquisition;
    options.settings = settings;
    options.reset_wait = {};
    options.settle = std::chrono::milliseconds(5);
    const auto source = micropulse::make_micropulse_source(options, clock);
    source->start(host);
    const auto began = instrument.began();
    const auto ended = host.ended();
    source->stop();
    return bytes / seconds(began, ended);
  };
  const auto bare = [&] {
    BareInstrument instrument(cycle, cycles, test);
    asio::io_context context;
    tcp::socket reader(context);
    reader.connect({asio::ip::address_v4::loopback(), instrument.port()});
    reader.set_option(tcp::no_delay(true));
    const std::string commands = "RST 50\rSTA\rSTRS 1\r";
    asio::write(reader, asio::buffer(commands));
    std::size_t left = 32 + state_bytes + cycles * cycle.size();
    std::size_t place = 0;
    while (left > 0) {
      const std::size_t got = reader.read_some(asio::buffer(memory.data() + place, std::min(left, read_bytes)));
      left -= got;
      place += got;
      if (place + read_bytes > memory.size()) place = 0;
    }
    const auto ended = steady_clock::now();
    return bytes / seconds(instrument.began(), ended);
  };

  const std::vector<Turn> turns{{"source", through_source}, {"bare", bare}};
  static_cast<void>(take_turns(1, turns));
  Turns taken = take_turns(test.rounds, turns);
  return {.measured = test,
          .frame_bytes = cycle.size(),
          .source = taken.spread("source"),
          .bare = taken.spread("bare"),
          .ratio = taken.ratio("source", "bare"),
          .turns = std::move(taken)};
}

}  // namespace echoform::benchmarks
