// SPDX-License-Identifier: Apache-2.0
// Daemons that are killed at any moment of a stream of commits: what was acknowledged is there, and no half
// of a turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/random.h"
#include "common/sys/fd.h"
#include "tests/unit/popdistd/store/child.h"
#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using pop::testing::event;
using pop::testing::ipus;
using pop::testing::jobRecord;

constexpr int kRounds = 100;

// Turn n: job n gets an event and a partition; the job before it ends and gives its partition up.
Status writeTurn(Store& store, std::int64_t n) {
  const std::string partition = "p" + std::to_string(n);
  POP_RETURN_IF_ERROR(store.putMeta("turn", std::to_string(n)));
  if (n > 1) {
    const std::string last = "p" + std::to_string(n - 1);
    POP_RETURN_IF_ERROR(store.unbind(last));
    POP_RETURN_IF_ERROR(store.removePartition(last));
    POP_RETURN_IF_ERROR(store.putJob(pop::testing::ended(jobRecord(n - 1, std::to_string(n - 1)))));
  }
  POP_RETURN_IF_ERROR(store.putJob(jobRecord(n, std::to_string(n))));
  POP_RETURN_IF_ERROR(store.putPartition(partition, "record", ipus(0, 16)));
  POP_RETURN_IF_ERROR(store.bind(partition, n));
  for (const std::uint64_t sequence : {1u, 2u}) POP_RETURN_IF_ERROR(store.putEvent(n, event(sequence)));
  return store.commit();
}

std::int64_t lastTurn(Store& store) {
  return std::stoll(store.meta("turn").value().value_or("0"));
}

[[noreturn]] void writeTurns(const std::string& directory, const sys::Fd& acknowledged) {
  Result<std::unique_ptr<SqliteStore>> store = SqliteStore::open(directory);
  if (!store.ok()) ::_exit(1);
  for (std::int64_t n = lastTurn(**store) + 1; writeTurn(**store, n).ok(); ++n) {
    if (::write(acknowledged.get(), &n, sizeof n) != sizeof n) break;
  }
  ::_exit(1);
}

// Kills the writer after `turns` acknowledged ones and a moment more; returns the last acknowledged turn.
std::int64_t killWriterAfter(const std::string& directory, std::uint64_t turns, std::uint64_t spins) {
  sys::Pipe pipe = sys::makePipe().value();
  const pid_t writer = ::fork();
  if (writer == 0) {
    pipe.read_end.reset();
    writeTurns(directory, pipe.write_end);
  }
  pipe.write_end.reset();
  std::int64_t last = 0;
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    if (::read(pipe.read_end.get(), &last, sizeof last) != sizeof last) break;
  }
  for (std::uint64_t spin = 0; spin < spins; ++spin) static_cast<void>(::getppid());
  EXPECT_EQ(::kill(writer, SIGKILL), 0);
  while (::read(pipe.read_end.get(), &last, sizeof last) == sizeof last) {
  }
  int status = 0;
  EXPECT_EQ(::waitpid(writer, &status, 0), writer);
  EXPECT_TRUE(WIFSIGNALED(status)) << "a commit failed";
  return last;
}

// Exactly the turns 1 … n are there.
void expectWholeTurns(Store& store, std::int64_t n) {
  const std::vector<v1::JobRecord> jobs = store.jobs().value();
  ASSERT_EQ(jobs.size(), static_cast<std::size_t>(n));
  for (const v1::JobRecord& job : jobs) {
    const bool is_last = job.info().id() == n;
    ASSERT_EQ(job.info().state(), is_last ? v1::JOB_QUEUED : v1::JOB_ENDED);
    ASSERT_EQ(job.spec().empty(), !is_last);
    ASSERT_EQ(store.events(job.info().id(), 0, 10).value().size(), 2u);
  }
  const std::vector<StoredPartition> partitions = store.partitions().value();
  ASSERT_EQ(partitions.size(), n == 0 ? 0u : 1u);
  if (n == 0) return;
  EXPECT_EQ(partitions[0].job, n);
  EXPECT_EQ(partitions[0].ipus, ipus(0, 16));
}

void killWritersAgainAndAgain(const std::string& directory) {
  SplitMix64 random(1);
  std::int64_t acknowledged = 0;
  for (int round = 0; round < kRounds; ++round) {
    acknowledged = std::max(acknowledged, killWriterAfter(directory, random.below(10), random.below(20'000)));
    const auto store = pop::testing::openStore(directory);
    ASSERT_NE(store, nullptr);
    const std::int64_t last = lastTurn(*store);
    ASSERT_GE(last, acknowledged);
    ASSERT_LE(last, acknowledged + 1) << "a turn is there that nobody has committed";
    acknowledged = last;
    ASSERT_NO_FATAL_FAILURE(expectWholeTurns(*store, last)) << "round " << round;
  }
  EXPECT_GT(acknowledged, kRounds);
  EXPECT_THAT(pop::testing::openStore(directory)->check().value().findings, ::testing::IsEmpty());
}

// A kill leaves the same on every disk; one in memory does not wait for its writes.
TEST(StoreCrash, KeepsWhatWasAcknowledgedAndNoHalfTurn) {
  const pop::testing::TempDir home;
  pop::testing::inAChild([&] {
    ASSERT_NO_FATAL_FAILURE(pop::testing::ownDisk(home.path(), "size=64m"));
    killWritersAgainAndAgain(home / "state");
  });
}

}  // namespace
}  // namespace pop::popdistd
