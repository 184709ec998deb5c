#include "pipeline/engine.hpp"

#include <condition_variable>
#include <mutex>

namespace echoform {

bool image_now(Engine& engine, FrameSlot& slot) {
  struct {
    std::mutex mutex;
    std::condition_variable changed;
    bool finished = false;
    bool ok = false;
  } state;
  engine.submit(slot, [&state](FrameSlot&, bool ok) {
    // Notifies under the lock: once it is released, the waiter may return and the state be destroyed.
    const std::lock_guard lock(state.mutex);
    state.finished = true;
    state.ok = ok;
    state.changed.notify_all();
  });
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&state] { return state.finished; });
  return state.ok;
}

}  // namespace echoform
