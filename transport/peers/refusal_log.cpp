#include "transport/peers/refusal_log.hpp"

#include <spdlog/spdlog.h>

namespace echoform {

void RefusalLog::refused(PeerRefusal reason, std::string_view address) {
  const auto left_out =
      limits_[static_cast<std::size_t>(reason)].admit(clock_ != nullptr ? clock_->steady() : SystemClock().steady());
  if (!left_out) return;
  spdlog::warn("{}: a peer{}{} was turned away: {}{}", door_, address.empty() ? "" : " from ", address,
               words::peer_refusal.of(reason), left_out_text(*left_out));
}

}  // namespace echoform
