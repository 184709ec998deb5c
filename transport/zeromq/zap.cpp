#include "transport/zeromq/zap.hpp"

#include <algorithm>

namespace echoform {
namespace {

// Frames of a ZAP request with CURVE; a request with NULL ends before the credentials.
enum Frame : std::size_t { version, request_id, domain, address, routing_id, mechanism, credentials, frame_count };

constexpr std::size_t longest_text = 255;

std::string_view text_of(const zmq::message_t& frame) {
  return {frame.data<char>(), frame.size()};
}

std::string printable_address(std::string_view text) {
  constexpr std::string_view mapped = "::ffff:";  // IPv4 on an IPv6 socket
  if (text.starts_with(mapped) && text.find('.') != std::string_view::npos) text.remove_prefix(mapped.size());
  std::string shown(text.substr(0, 64));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < 0x20 || c > 0x7E; }, '?');
  return shown;
}

/// Status "500" unless the request has exactly `frames` frames, "400" unless it is for our domain and uses the mechanism `by`.
ZapVerdict judge_form(const std::vector<zmq::message_t>& question, std::size_t frames, std::string_view by) {
  ZapVerdict verdict{.request_id = {}, .status = "500", .text = "not a question of ZAP 1.0", .user = {}, .address = {}};
  if (question.size() > request_id && question[request_id].size() <= longest_text) {
    verdict.request_id = text_of(question[request_id]);
  }
  if (question.size() > address) verdict.address = printable_address(text_of(question[address]));
  if (question.size() != frames || text_of(question[version]) != "1.0") return verdict;
  const bool ours = text_of(question[domain]) == zap_domain && text_of(question[mechanism]) == by;
  verdict.status = ours ? "200" : "400";
  verdict.text = ours ? "OK" : "refused";
  return verdict;
}

}  // namespace

ZapVerdict judge(const std::vector<zmq::message_t>& question, const CurveServerKeys& keys) {
  ZapVerdict verdict = judge_form(question, frame_count, "CURVE");
  if (verdict.status != "200") return verdict;
  CurveKey key{};
  const bool is_key = question[credentials].size() == key.size();
  if (is_key) std::copy_n(question[credentials].data<std::uint8_t>(), key.size(), key.begin());
  if (!is_key || (!keys.clients.empty() && !lists_key(keys.clients, key))) {
    verdict.status = "400";
    verdict.text = "refused";
  } else {
    verdict.user = curve_text(key);
  }
  return verdict;
}

ZapVerdict judge_without_keys(const std::vector<zmq::message_t>& question) {
  return judge_form(question, credentials, "NULL");
}

}  // namespace echoform
