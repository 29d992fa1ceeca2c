// SPDX-License-Identifier: Apache-2.0
// A rank that stands still while it copies from another's buffer, until that one has given up and uses the
// buffer for something else: what it has copied then is wrong, and must not pass for a result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "tests/contract/ways.h"
#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using ::testing::HasSubstr;
using testing::ThreadGroup;

constexpr std::size_t kBytes = std::size_t{1} << 20;

// Memory whose first writer stands still until it is opened. One at a time.
class ClosedMemory {
 public:
  ClosedMemory() : memory_(::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    closed_ = memory_;
    is_open_ = false;
    struct sigaction action {};
    action.sa_handler = &waitUntilOpen;
    ::sigaction(SIGSEGV, &action, &before_);
  }
  ~ClosedMemory() {
    ::sigaction(SIGSEGV, &before_, nullptr);
    ::munmap(memory_, kBytes);
  }
  ClosedMemory(const ClosedMemory&) = delete;
  ClosedMemory& operator=(const ClosedMemory&) = delete;

  void* data() const { return memory_; }
  static void open() { is_open_ = true; }

 private:
  static void waitUntilOpen(int /*signal*/) {
    while (!is_open_) ::sched_yield();
    ::mprotect(closed_, kBytes, PROT_READ | PROT_WRITE);
  }

  static inline std::atomic<void*> closed_;
  static inline std::atomic<bool> is_open_;
  void* const memory_;
  struct sigaction before_ {};
};

class LateReader : public ::testing::TestWithParam<std::string> {
 protected:
  static const Way& way() {
    return *std::find_if(allWays().begin(), allWays().end(),
                         [](const Way& each) { return each.name == GetParam(); });
  }
};

TEST_P(LateReader, DoesNotTakeWhatOthersHaveGivenUp) {
  const WayTaken taken(way());
  const ClosedMemory received;
  ThreadGroup group(shapeOf(way(), 2));
  group.run([&](Context& context) {
    Communicator& world = context.world();
    if (world.rank() == 0) {
      const bool mapped = GetParam() == "direct";
      const auto own = std::make_unique<std::byte[]>(kBytes);
      const Buffer shared(context, kBytes);
      const std::span sent(mapped ? shared.as<std::byte>() : own.get(), kBytes);
      const Reported report = reportOf(
          [&] { world.broadcast(sent.data(), kBytes, Type::kUint8, 0, {.timeout = Milliseconds(50)}); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
      std::fill(sent.begin(), sent.end(), std::byte{7});
      ClosedMemory::open();
      context.fence();
      return;
    }
    const Reported report = reportOf(
        [&] { world.broadcast(received.data(), kBytes, Type::kUint8, 0, {.timeout = kLongTimeout}); });
    EXPECT_THAT(report.what, HasSubstr("rank 0 has given up: the deadline has passed, waiting for rank 1"));
    context.fence();
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, LateReader, ::testing::Values("direct", "pull"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace popdist::contract
