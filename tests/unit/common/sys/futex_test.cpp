// SPDX-License-Identifier: Apache-2.0
// Sleepers that are not woken would wait for kTimeout: far beyond what the tests take when wakes arrive.
#include "common/sys/futex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>
#include <vector>

#include "common/sys/memfd.h"

namespace pop::sys {
namespace {

using Word = std::atomic<std::uint32_t>;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kTimeout{20};

void waitWhile(const Word& word, std::uint32_t value) {
  while (word.load() == value) futexWait(word, value, kTimeout);
}

// Two sides take turns: each sleeps until the other has moved the word on.
void takeTurns(Word& word, std::uint32_t mine, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    waitWhile(word, 1 - mine);
    word.store(1 - mine);
    futexWakeAll(word);
  }
}

TEST(Futex, ReturnsAtOnceWhenTheWordIsNotAsExpected) {
  const Word word{1};
  const Clock::time_point start = Clock::now();
  futexWait(word, 0, kTimeout);
  EXPECT_LT(Clock::now() - start, kTimeout / 2);
}

TEST(Futex, WaitsNoLongerThanAsked) {
  const Word word{0};
  const Clock::time_point start = Clock::now();
  futexWait(word, 0, milliseconds(3));
  EXPECT_LT(Clock::now() - start, kTimeout / 2);
}

TEST(Futex, WakesAnotherThreadEveryTime) {
  Word word{0};
  const Clock::time_point start = Clock::now();
  std::thread other([&word] { takeTurns(word, 1, 1000); });
  takeTurns(word, 0, 1000);
  other.join();
  EXPECT_LT(Clock::now() - start, kTimeout);
}

TEST(Futex, WakesAllWhoSleep) {
  Word gate{0};
  std::atomic<int> asleep_or_about_to{0};
  const Clock::time_point start = Clock::now();
  std::vector<std::thread> sleepers;
  for (int count = 0; count < 4; ++count) {
    sleepers.emplace_back([&] {
      ++asleep_or_about_to;
      waitWhile(gate, 0);
    });
  }
  while (asleep_or_about_to < 4) std::this_thread::yield();
  gate.store(1);
  futexWakeAll(gate);
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_LT(Clock::now() - start, kTimeout);
}

TEST(Futex, WakesAnotherProcessThroughSharedMemory) {
  const Fd fd = createMemfd("futex", 4096).value();
  const Mapping ours = mapShared(fd.get(), 4096).value();
  auto* word = new (ours.data()) Word(0);
  const Clock::time_point start = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    // At an address of its own: what counts is the memory, not where it is mapped.
    const Mapping theirs = mapShared(fd.get(), 4096).value();
    takeTurns(*std::launder(reinterpret_cast<Word*>(theirs.data())), 1, 200);
    ::_exit(0);
  }
  takeTurns(*word, 0, 200);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_LT(Clock::now() - start, kTimeout);
}

}  // namespace
}  // namespace pop::sys
