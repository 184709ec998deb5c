// Settings that change while the thread tells the instrument of others.
#include "instruments/micropulse/settings_exchange.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/errors.hpp"

namespace echoform::micropulse {
namespace {

TEST(SettingsExchange, AnswersWhoWaitsByWhatHeAskedFor) {
  const LiveSettings first;
  LiveSettings slow = first;
  slow.gain_db = 50.0;
  LiveSettings next = first;
  next.gain_db = 60.0;
  const WakeBell bell("test");
  SettingsExchange exchange(first);
  EXPECT_EQ(exchange.begin(), first);
  exchange.set_firing(true);
  // Given up while the thread is at it.
  EXPECT_THROW(exchange.change(slow, bell, std::chrono::milliseconds(1)), RuntimeFault);
  std::string said;
  {
    const std::jthread asks([&] {
      try {
        exchange.change(next, bell, std::chrono::minutes(5));
        said = "taken";
      } catch (const InputError& error) {
        said = error.what();
      }
    });
    while (!(exchange.asked() && exchange.wanted() == next)) bell.wait(std::chrono::minutes(5));
    exchange.answer(slow, nullptr);
    EXPECT_TRUE(exchange.asked());
    EXPECT_EQ(exchange.wanted(), next);
    exchange.answer(next, std::make_exception_ptr(InputError("too loud")));
  }
  EXPECT_EQ(said, "too loud");
  EXPECT_FALSE(exchange.asked());
}

}  // namespace
}  // namespace echoform::micropulse
