// Rules about peers, without sockets: how many, how often, with which keys.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/errors.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/certificate.hpp"
#include "tests/support/input_error.hpp"
#include "transport/peers/peer_book.hpp"
#include "transport/web/request_rules.hpp"
#include "transport/web/tls.hpp"
#include "transport/zeromq/curve_keys.hpp"
#include "transport/zeromq/zap.hpp"

namespace echoform {
namespace {

using boost::asio::ip::make_address;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

PeerBook::Time at(double seconds) {
  return PeerBook::Time(std::chrono::duration_cast<PeerBook::Time::duration>(std::chrono::duration<double>(1000.0 + seconds)));
}

TEST(PeerBook, KeepsPlacesForOtherAddresses) {
  PeerBook book({.connections = 4, .per_address = 2, .rate = 10.0, .burst = 50.0});
  const auto greedy = make_address("192.0.2.1");
  EXPECT_FALSE(book.enter(greedy, at(0)));
  EXPECT_FALSE(book.enter(greedy, at(0)));
  EXPECT_EQ(book.enter(greedy, at(0)), PeerRefusal::address_limit);
  EXPECT_EQ(book.enter(make_address("::ffff:192.0.2.1"), at(0)), PeerRefusal::address_limit) << "the same address";
  EXPECT_FALSE(book.enter(make_address("192.0.2.2"), at(0)));
  EXPECT_FALSE(book.enter(make_address("2001:db8::1"), at(0)));
  EXPECT_EQ(book.enter(make_address("192.0.2.3"), at(0)), PeerRefusal::too_many);
  book.leave(greedy);
  EXPECT_EQ(book.open(), 3u);
  EXPECT_FALSE(book.enter(make_address("192.0.2.3"), at(0)));
}

TEST(PeerBook, ANetworkOfIPv6IsOneAddress) {
  PeerBook book({.connections = 9, .per_address = 1, .rate = 10.0, .burst = 50.0});
  EXPECT_FALSE(book.enter(make_address("2001:db8::1"), at(0)));
  EXPECT_EQ(book.enter(make_address("2001:db8::2"), at(0)), PeerRefusal::address_limit);
  EXPECT_FALSE(book.enter(make_address("2001:db8:0:1::1"), at(0)));
}

TEST(PeerBook, ANetworkIsTheFirst64BitsAndNothingElse) {
  // The bits of an address one by one: 1 is the highest of the first byte.
  const auto base = make_address("2001:db8:12:34:56:78:9a:bc").to_v6().to_bytes();
  const auto network = peer_network(boost::asio::ip::address_v6(base));
  for (std::size_t bit = 0; bit < 128; ++bit) {
    auto bytes = base;
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (0x80U >> bit % 8));
    EXPECT_EQ(peer_network(boost::asio::ip::address_v6(bytes)) == network, bit >= 64) << "bit " << bit;
  }
  EXPECT_EQ(network, make_address("2001:db8:12:34::"));
  // All of an IPv4 address counts, however a socket says it.
  for (const char* other : {"193.0.2.1", "192.1.2.1", "192.0.3.1", "192.0.2.0"}) {
    EXPECT_NE(peer_network(make_address(other)), peer_network(make_address("192.0.2.1"))) << other;
    EXPECT_NE(peer_network(make_address(std::string("::ffff:") + other)), peer_network(make_address("192.0.2.1"))) << other;
  }
  EXPECT_EQ(peer_network(make_address("::ffff:192.0.2.1")), make_address("192.0.2.1"));
  EXPECT_EQ(peer_network(make_address("::1")), make_address("::1"));
  EXPECT_EQ(unmapped(make_address("2001:db8::1")), make_address("2001:db8::1"));
}

TEST(PeerBook, AHostOfIPv6GainsNothingByChangingItsAddress) {
  PeerBook book({.connections = 100, .per_address = 3, .rate = 1.0, .burst = 50.0});
  for (const char* own : {"2001:db8:0:1::1", "2001:db8:0:1:8000::1", "2001:db8:0:1:1::1"}) {
    EXPECT_FALSE(book.enter(make_address(own), at(0))) << own;
  }
  EXPECT_EQ(book.enter(make_address("2001:db8:0:1:100::1"), at(0)), PeerRefusal::address_limit);
  EXPECT_EQ(book.addresses(), 1U);
  book.leave(make_address("2001:db8:0:1:4000::7"));
  EXPECT_FALSE(book.enter(make_address("2001:db8:0:1:100::1"), at(0))) << "by whichever of them it left";
}

TEST(PeerBook, WhoComesTooOftenWaits) {
  PeerBook book({.connections = 1000, .per_address = 1000, .rate = 2.0, .burst = 3.0});
  const auto eager = make_address("192.0.2.1");
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(book.enter(eager, at(0)));
  EXPECT_EQ(book.enter(eager, at(0.25)), PeerRefusal::too_often);
  EXPECT_FALSE(book.enter(make_address("192.0.2.2"), at(0.25))) << "another one does not";
  EXPECT_FALSE(book.enter(eager, at(0.75)));
  EXPECT_EQ(book.enter(eager, at(0.75)), PeerRefusal::too_often);
}

TEST(PeerBook, LoopbackIsLimitedInAllOnly) {
  PeerBook book({.connections = 100, .per_address = 1, .rate = 1.0, .burst = 1.0});
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(book.enter(make_address("127.0.0.1"), at(0)));
  EXPECT_EQ(book.enter(make_address("::1"), at(0)), PeerRefusal::too_many);
  for (int i = 0; i < 3; ++i) {
    book.leave(make_address("127.0.0.1"));
    EXPECT_FALSE(book.enter(make_address("::1"), at(0))) << "nor by its name of IPv6";
  }
  EXPECT_EQ(book.addresses(), 0U);
}

TEST(PeerBook, AllTogetherComeNoFasterThanADoorBears) {
  PeerBook book({.connections = 3, .rate_of_all = 2.0, .burst_of_all = 3.0});
  const auto own = make_address("127.0.0.1");
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(book.enter(own, at(0)));
  EXPECT_EQ(book.enter(own, at(0.25)), PeerRefusal::too_often);
  EXPECT_EQ(book.enter(make_address("192.0.2.1"), at(0.25)), PeerRefusal::too_often) << "whoever it is";
  EXPECT_EQ(book.enter(own, at(0.75)), PeerRefusal::too_many);
  book.leave(own);
  EXPECT_FALSE(book.enter(make_address("192.0.2.1"), at(0.75))) << "who was turned away for want of a place cost nothing";
  book.leave(own);
  EXPECT_EQ(book.enter(own, at(0.75)), PeerRefusal::too_often);
}

TEST(PeerBook, RemembersABoundedNumberOfAddresses) {
  PeerBook book(PeerLimits{});
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const boost::asio::ip::address from = boost::asio::ip::address_v4(0x0B000000U + i);
    if (!book.enter(from, at(0.001 * i))) book.leave(from);
  }
  EXPECT_LE(book.addresses(), 1024u);
  EXPECT_EQ(book.open(), 0u);
}

/// Of many that come once.
boost::asio::ip::address visitor(std::uint32_t number) {
  return boost::asio::ip::address_v4(0x0B000000U + number);
}

constexpr std::uint32_t places = 1024;  // that a book remembers

TEST(PeerBook, ForgetsWhoIsQuietAndKeepsWhoIsConnectedOrCameTooOften) {
  PeerBook book({.connections = 5000, .per_address = 1, .rate = 1.0, .burst = 2.0});
  const auto eager = make_address("192.0.2.1"), staying = make_address("192.0.2.2"), late = make_address("192.0.2.3");
  for (int i = 0; i < 2; ++i) {
    ASSERT_FALSE(book.enter(eager, at(0)));
    book.leave(eager);
  }
  ASSERT_FALSE(book.enter(staying, at(0)));
  for (std::uint32_t i = 2; i < places; ++i) {
    ASSERT_FALSE(book.enter(visitor(i), at(0)));
    book.leave(visitor(i));
  }
  ASSERT_EQ(book.addresses(), places);
  // At 1 connection a second all but the eager one may come twice again.
  ASSERT_FALSE(book.enter(late, at(1.5)));
  EXPECT_EQ(book.addresses(), 3U) << "eager, staying and late";
  EXPECT_EQ(book.enter(staying, at(1.5)), PeerRefusal::address_limit) << "it is still there";
  EXPECT_FALSE(book.enter(eager, at(1.5)));
  book.leave(eager);
  EXPECT_EQ(book.enter(eager, at(1.5)), PeerRefusal::too_often) << "1.5 connections had come back, not 2";
  EXPECT_EQ(book.open(), 2U);
}

TEST(PeerBook, WhereAllAreFreshTheOneThatCameLongestAgoGivesItsPlace) {
  // No allowance comes back within this test.
  PeerBook book({.connections = 5000, .per_address = 9, .rate = 1e-6, .burst = 1.0});
  const auto staying = make_address("192.0.2.2");
  ASSERT_FALSE(book.enter(staying, at(0)));
  // In an order of addresses that is not that of times: 389 and 1023 have no common divisor.
  const auto nth = [](std::uint32_t k) { return visitor(k * 389 % (places - 1)); };
  for (std::uint32_t k = 0; k + 1 < places; ++k) {
    ASSERT_FALSE(book.enter(nth(k), at(1.0 + k)));
    book.leave(nth(k));
  }
  ASSERT_EQ(book.addresses(), places);
  // The first two give theirs to two others; they are turned away no more, as if they came for the first time.
  for (std::uint32_t other = 0; other < 2; ++other) {
    EXPECT_FALSE(book.enter(visitor(50'000 + other), at(2000.0 + other)));
    book.leave(visitor(50'000 + other));
    EXPECT_EQ(book.addresses(), places);
  }
  for (const std::uint32_t kept : {2U, 3U, 500U, places - 2}) {
    EXPECT_EQ(book.enter(nth(kept), at(3000.0)), PeerRefusal::too_often) << kept;
  }
  EXPECT_EQ(book.enter(staying, at(3000.0)), PeerRefusal::too_often) << "it is connected, though it came before all";
  for (const std::uint32_t gone : {0U, 1U}) {
    EXPECT_FALSE(book.enter(nth(gone), at(3001.0 + gone))) << gone;
    book.leave(nth(gone));
  }
  EXPECT_EQ(book.addresses(), places);
  // 2 and 3 have come again meanwhile; 4 and 5 have not.
  for (const std::uint32_t kept : {2U, 3U}) EXPECT_EQ(book.enter(nth(kept), at(3003.0)), PeerRefusal::too_often) << kept;
  for (const std::uint32_t gone : {4U, 5U}) EXPECT_FALSE(book.enter(nth(gone), at(3004.0 + gone))) << gone;
}

TEST(PeerBook, WhereAllAreConnectedANewOneFindsAPlaceAllTheSame) {
  PeerBook book({.connections = 5000, .per_address = 1, .rate = 1.0, .burst = 1.0});
  for (std::uint32_t i = 0; i < places; ++i) ASSERT_FALSE(book.enter(visitor(i), at(0)));
  EXPECT_FALSE(book.enter(visitor(places), at(9))) << "as many as are let in at once are remembered";
  EXPECT_EQ(book.enter(visitor(0), at(9)), PeerRefusal::address_limit);
  for (std::uint32_t i = 0; i <= places; ++i) book.leave(visitor(i));
  EXPECT_EQ(book.open(), 0U);
}

class KeyFiles : public testing::Test {
 protected:
  KeyFiles() { std::filesystem::create_directories(folder_); }
  ~KeyFiles() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text, ::mode_t mode = 0600) const {
    return test::write_file(path(name), text, mode);
  }
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / (std::string("echoform-keys-") + std::to_string(::getpid()) +
                                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(KeyFiles, APairIsWrittenForItsOwnerAloneAndReadBack) {
  const CurvePair pair = make_curve_pair();
  write_curve_pair(path("server"), pair);
  const CurvePair back = read_curve_secret(path("server.secret"), "");
  EXPECT_EQ(back.public_key, pair.public_key);
  EXPECT_EQ(back.secret_key, pair.secret_key);
  EXPECT_EQ(read_curve_public(path("server.public"), ""), pair.public_key);
  EXPECT_EQ(curve_public_key(pair.secret_key), pair.public_key);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path("server.secret")).permissions(), perms::owner_read | perms::owner_write);
  std::ifstream text(path("server.public"));
  const std::string shared((std::istreambuf_iterator<char>(text)), {});
  EXPECT_THAT(shared, HasSubstr(curve_text(pair.public_key)));
  EXPECT_THAT(shared, ::testing::Not(HasSubstr(curve_text(pair.secret_key))));
}

TEST_F(KeyFiles, NothingIsOverwrittenAndNothingHalfStays) {
  write_curve_pair(path("a"), make_curve_pair());
  EXPECT_THAT(test::input_error([&] { return write_curve_pair(path("a"), make_curve_pair()), 0; }),
              EndsWith("a.secret: found a file that exists; expected a new name: keys are not overwritten"));
  static_cast<void>(write("b.public", "mine"));
  EXPECT_THAT(test::input_error([&] { return write_curve_pair(path("b"), make_curve_pair()), 0; }),
              HasSubstr("b.public: found a file that exists"));
  EXPECT_FALSE(std::filesystem::exists(path("b.secret")));
  EXPECT_THROW(write_curve_pair(path("no/such/folder"), make_curve_pair()), RuntimeFault);
}

TEST_F(KeyFiles, BadOnesAreRefusedInOneLineThatShowsNoKey) {
  const CurvePair pair = make_curve_pair(), other = make_curve_pair();
  const std::string secret = curve_text(pair.secret_key);
  const auto read = [&](const std::string& file) {
    return test::input_error([&] { return read_curve_secret(file, "[curve] secret_key_file"); });
  };
  EXPECT_THAT(read(write("open", "secret-key = \"" + secret + "\"", 0604)),
              EndsWith("open: found permissions 604; expected a secret key that others have no access to (chmod 600)"));
  EXPECT_EQ(read(write("group", "secret-key = \"" + secret + "\"", 0640)), "");
  EXPECT_THAT(read(path("nowhere")), StartsWith("[curve] secret_key_file: "));
  EXPECT_THAT(read(path("nowhere")), HasSubstr("nowhere: found no such file"));
  EXPECT_THAT(read(folder_.string()), HasSubstr("found something that is not a file"));
  EXPECT_THAT(read(write("empty", "")), HasSubstr("found no secret-key"));
  EXPECT_THAT(read(write("public", "public-key = \"" + curve_text(pair.public_key) + "\"")), HasSubstr("found no secret-key"));
  EXPECT_THAT(read(write("two", "secret-key = \"" + secret + "\"\nsecret-key = \"" + secret + "\"")),
              HasSubstr("found 2 of secret-key"));
  EXPECT_THAT(read(write("alien", "public-key = \"" + curve_text(other.public_key) + "\"\nsecret-key = \"" + secret + "\"")),
              HasSubstr("a public-key that does not belong to its secret-key"));
  EXPECT_THAT(read(write("huge", std::string((1 << 20) + 1, '\n'))), HasSubstr("found 1048577 bytes"));
  for (const std::string& bad : {secret.substr(1), secret + "x", std::string(40, '~'), std::string(40, '#'), std::string()}) {
    const std::string line = read(write("bad", "\nsecret-key = \"" + bad + "\""));
    EXPECT_THAT(line, EndsWith("bad, line 2: found a text that is no key; expected secret-key = \"40 characters of Z85\""))
        << bad;
  }
}

TEST_F(KeyFiles, ClientsAreAFileOrAFolder) {
  const CurvePair a = make_curve_pair(), b = make_curve_pair();
  const auto line = [](const CurvePair& pair) { return "public-key = \"" + curve_text(pair.public_key) + "\"\n"; };
  EXPECT_EQ(read_curve_clients(write("both", line(a) + line(b)), ""), (std::vector<CurveKey>{a.public_key, b.public_key}));
  EXPECT_THAT(test::input_error([&] { return read_curve_clients(folder_, "clients"); }),
              HasSubstr("found no file that ends in .public or .key"));
  static_cast<void>(write("a.public", line(a)));
  static_cast<void>(write("b.key", line(b)));
  static_cast<void>(write("notes.txt", "nothing"));
  EXPECT_EQ(read_curve_clients(folder_, ""), (std::vector<CurveKey>{a.public_key, b.public_key}));
  static_cast<void>(write("c.public", "nothing"));
  EXPECT_THAT(test::input_error([&] { return read_curve_clients(folder_, "clients"); }),
              HasSubstr("c.public: found no public-key"));
}

TEST_F(KeyFiles, CertificatesAndKeysThatCannotBeUsedAreNamed) {
  const test::Certificate one = test::make_certificate(), other = test::make_certificate();
  const std::string certificate = write("certificate.pem", one.certificate), key = write("key.pem", one.key);
  EXPECT_NO_THROW(static_cast<void>(make_tls_context(certificate, key)));
  const auto line = [](const std::string& c, const std::string& k) {
    return test::input_error([&] { return make_tls_context(c, k); });
  };
  EXPECT_THAT(line(certificate, write("other.pem", other.key)), HasSubstr("other.pem: found a key of another certificate"));
  EXPECT_THAT(line(certificate, write("open.pem", one.key, 0644)), HasSubstr("[server] tls_key: "));
  EXPECT_THAT(line(certificate, path("open.pem")), HasSubstr("open.pem: found permissions 644"));
  EXPECT_THAT(line(path("none"), key), HasSubstr("[server] tls_certificate: "));
  EXPECT_THAT(line(write("text", "hello"), key), HasSubstr("text: found "));
  EXPECT_THAT(line(certificate, write("text", "hello")), HasSubstr("text: found "));
}

TEST_F(KeyFiles, CertificatesThatAreNotValidNowAreUsedWithAWarning) {
  const auto warning = [&](const std::string& name, const test::Certificate& made) {
    const test::CapturedLog log;
    EXPECT_EQ(test::input_error([&] { return make_tls_context(write(name, made.certificate), write(name + ".key", made.key)); }),
              "");
    return log.text();
  };
  EXPECT_EQ(warning("good.pem", test::make_certificate()), "");
  EXPECT_THAT(warning("old.pem", test::make_certificate(-1)),
              AllOf(StartsWith("warning: [server] tls_certificate: "),
                    EndsWith("old.pem: the certificate has expired: browsers will refuse it\n")));
  EXPECT_THAT(warning("new.pem", test::make_certificate(2, 1)),
              AllOf(StartsWith("warning: [server] tls_certificate: "),
                    EndsWith("new.pem: the certificate is not valid yet: browsers will refuse it\n")));
}

TEST(Zap, LetsInWhatIsExactlyAsAskedFor) {
  const CurvePair listed = make_curve_pair(), unlisted = make_curve_pair();
  const CurveServerKeys keys{make_curve_pair().secret_key, {make_curve_pair().public_key, listed.public_key}};
  const auto key_text = [](const CurveKey& key) { return std::string(key.begin(), key.end()); };
  const auto ask = [&](std::vector<std::string> frames, const CurveServerKeys& by) {
    std::vector<zmq::message_t> question;
    for (const std::string& frame : frames) question.emplace_back(frame.data(), frame.size());
    return judge(question, by);
  };
  const std::vector<std::string> good{"1.0", "7", "echoform", "192.0.2.1", "", "CURVE", key_text(listed.public_key)};
  EXPECT_EQ(ask(good, keys).status, "200");
  EXPECT_EQ(ask(good, keys).request_id, "7");
  EXPECT_EQ(ask(good, keys).user, curve_text(listed.public_key));
  const auto changed = [&](std::size_t frame, const std::string& to) {
    auto frames = good;
    frames[frame] = to;
    return std::string(ask(frames, keys).status);
  };
  EXPECT_EQ(changed(0, "1.1"), "500");
  EXPECT_EQ(changed(2, "other"), "400");
  EXPECT_EQ(changed(5, "PLAIN"), "400");
  EXPECT_EQ(changed(5, "NULL"), "400");
  EXPECT_EQ(changed(6, ""), "400");
  EXPECT_EQ(changed(6, key_text(listed.public_key) + "x"), "400");
  EXPECT_EQ(changed(6, key_text(unlisted.public_key)), "400");
  EXPECT_EQ(ask({}, keys).status, "500");
  EXPECT_EQ(ask({good.begin(), good.end() - 1}, keys).status, "500");
  auto longer = good;
  longer.emplace_back("more");
  EXPECT_EQ(ask(longer, keys).status, "500");
  auto unlisted_question = good;
  unlisted_question[6] = key_text(unlisted.public_key);
  EXPECT_EQ(ask(unlisted_question, CurveServerKeys{keys.secret_key, {}}).status, "200") << "no list";
}

TEST(Zap, WithoutKeysLetsInWhatIsAskedWithoutThem) {
  const auto ask = [&](const std::vector<std::string>& frames) {
    std::vector<zmq::message_t> question;
    for (const std::string& frame : frames) question.emplace_back(frame.data(), frame.size());
    return judge_without_keys(question);
  };
  const std::vector<std::string> good{"1.0", "1", "echoform", "::ffff:192.0.2.1", "", "NULL"};
  EXPECT_EQ(ask(good).status, "200");
  EXPECT_EQ(ask(good).request_id, "1");
  EXPECT_EQ(ask(good).user, "");
  EXPECT_EQ(ask(good).address, "192.0.2.1");
  const auto changed = [&](std::size_t frame, const std::string& to) {
    auto frames = good;
    frames[frame] = to;
    return std::string(ask(frames).status);
  };
  EXPECT_EQ(changed(0, "1.1"), "500");
  EXPECT_EQ(changed(2, ""), "400");
  EXPECT_EQ(changed(5, "PLAIN"), "400");
  EXPECT_EQ(changed(5, "CURVE"), "400");
  EXPECT_EQ(ask({}).status, "500");
  auto longer = good;
  longer.emplace_back("more");
  EXPECT_EQ(ask(longer).status, "500");
}

TEST(RequestRules, WhoMayChangeSomething) {
  const std::vector<std::string> names;
  const RequestTrust trust{"secret", names, false};
  RequestOrigin good;
  good.host = "127.0.0.1:8080";
  good.token = "secret";
  good.content_type = "application/json; charset=utf-8";
  const auto with = [&](auto change) {
    RequestOrigin request = good;
    change(request);
    return refuse_to_change(request, trust);
  };
  EXPECT_FALSE(refuse_to_change(good, trust)) << "a program";
  EXPECT_FALSE(with([](auto& r) { r.origin = "http://127.0.0.1:8080", r.fetch_site = "same-origin", r.fetch_mode = "cors"; }));
  EXPECT_EQ(with([](auto& r) { r.host = "evil.example"; }), PeerRefusal::wrong_host);
  EXPECT_EQ(with([](auto& r) { r.origin = "http://evil.example"; }), PeerRefusal::wrong_origin);
  EXPECT_EQ(with([](auto& r) { r.origin = "null"; }), PeerRefusal::wrong_origin);
  EXPECT_EQ(with([](auto& r) { r.fetch_site = "cross-site", r.fetch_mode = "navigate"; }), PeerRefusal::wrong_origin) << "a form";
  EXPECT_EQ(with([](auto& r) { r.fetch_site = "same-site"; }), PeerRefusal::wrong_origin);
  EXPECT_EQ(with([](auto& r) { r.token = "other"; }), PeerRefusal::wrong_token);
  EXPECT_EQ(with([](auto& r) { r.token = {}; }), PeerRefusal::wrong_token);
  EXPECT_FALSE(with([](auto& r) { r.token = {}, r.authorization = "Bearer secret"; }));
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx",
                           "application/x-protobuf"}) {
    EXPECT_EQ(with([&](auto& r) { r.content_type = type; }), PeerRefusal::bad_request) << type;
  }
  // Over TLS a page that came without it is another one.
  RequestOrigin plain = good;
  plain.origin = "http://127.0.0.1:8080";
  EXPECT_EQ(refuse_to_change(plain, {"secret", names, true}), PeerRefusal::wrong_origin);
  plain.origin = "https://127.0.0.1:8080";
  EXPECT_FALSE(refuse_to_change(plain, {"secret", names, true}));
}

}  // namespace
}  // namespace echoform
