#include "transport/acquisition/admission.hpp"

#include <fmt/format.h>

#include "proto/acquisition.pb.h"
#include "transport/wire_numbers.hpp"

namespace echoform {

HelloSummary summarise_hello(std::span<const std::byte> header) {
  HelloSummary hello;
  hello.whole = read_fields(header, [&](const WireField& found) {
    if (found.field == wire::Hello::kSessionFieldNumber && found.integer) hello.session = *found.integer;
    if (found.field == wire::Hello::kTokenFieldNumber && !found.integer) hello.token = found.text;
    if (found.field == wire::Hello::kSenderFieldNumber && !found.integer) hello.sender = found.text;
  });
  return hello;
}

void refuse_wrong_token(const HelloSummary& hello, const std::string& token) {
  if (!token.empty() && !equal_in_constant_time(token, hello.token)) throw WrongToken();
}

void refuse_early(const HelloSummary& hello, const std::string& token, const StreamHost& host) {
  refuse_wrong_token(hello, token);
  if (host.is_busy_for(hello.session)) throw StreamBusy();
}

ReadHello read_hello_header(std::span<const std::byte> header, const std::string& token, const AcquisitionLimits& limits) {
  ReadHello read;
  MessageReader reader;
  if (!reader.read_hello(header)) {
    read.error = reader.error();
    return read;
  }
  try {
    read.contents = admit(reader.hello(), token, limits);
  } catch (const InputError& error) {
    read.error = {DecodeReason::bad_hello, error.what()};
  }
  return read;
}

HelloContents admit(const wire::Hello& hello, const std::string& token, const AcquisitionLimits& limits) {
  if (!token.empty() && !equal_in_constant_time(token, hello.token())) throw WrongToken();
  HelloContents contents = read_hello(hello, limits);
  contents.identity.token.clear();
  return contents;
}

StreamOffer open_stream(StreamHost& host, const HelloContents& contents) {
  constexpr std::string_view failed = "the server could not open the stream";
  StreamOffer offer;
  const auto refuse = [&](std::string_view refusal, std::string_view answer) {
    offer.refusal = refusal;
    offer.answer = answer;
  };
  try {
    offer.intake = host.open_stream(contents.identity.session, contents.acquisition);
    if (offer.intake) {
      offer.layout = FrameLayout(offer.intake->acquisition());
    } else {
      refuse(failed, failed);
    }
  } catch (const StreamBusy& error) {
    refuse(error.what(), error.what());
    offer.retry = true;
  } catch (const InputError& error) {
    refuse(error.what(), line_for_others(error));
  } catch (const std::exception& error) {
    // The server failed: a device, its memory or its files. The log states the reason; the sender does not learn it.
    refuse(fmt::format("{}: {}", failed, error.what()), failed);
  }
  return offer;
}

}  // namespace echoform
