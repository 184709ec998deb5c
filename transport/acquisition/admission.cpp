#include "transport/acquisition/admission.hpp"

#include <fmt/format.h>

#include "proto/acquisition.pb.h"

namespace echoform {

HelloContents admit(const wire::Hello& hello, const std::string& token, const AcquisitionLimits& limits) {
  if (!token.empty() && !equal_in_constant_time(token, hello.token())) throw WrongToken();
  HelloContents contents = read_hello(hello, limits);
  contents.identity.token.clear();
  return contents;
}

StreamOffer open_stream(StreamHost& host, const HelloContents& contents) {
  StreamOffer offer;
  try {
    offer.intake = host.open_stream(contents.identity.session, contents.acquisition);
    if (!offer.intake) offer.refusal = "the server could not open the stream";
  } catch (const StreamBusy& error) {
    offer.refusal = error.what();
    offer.retry = true;
  } catch (const InputError& error) {
    offer.refusal = error.what();
  } catch (const std::exception& error) {
    offer.refusal = fmt::format("the server could not open the stream: {}", error.what());
  }
  return offer;
}

}  // namespace echoform
