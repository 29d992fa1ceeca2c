// SPDX-License-Identifier: Apache-2.0
#include "popctl/hold_partition.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <thread>

#include "common/base/text.h"
#include "common/sys/random_name.h"
#include "popctl/job_partition.h"
#include "popctl/report.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/rpc/partition_hold.h"

namespace pop::popctl {
namespace {

constexpr std::chrono::seconds kBetweenAttempts{1};

struct Held {
  JobPartition partition;
  std::unique_ptr<PartitionHold> hold;  ///< null: V-IPU's server, which has no such thing
};

Deadline deadlineOf(const PodsClient& client) {
  return std::chrono::steady_clock::now() + client.timeout();
}

void removeIfAsked(const HoldOptions& options, PodsClient& client, const JobPartition& partition) {
  if (!options.remove || !partition.made) return;
  const Status removed = removePartition(client, partition.id, deadlineOf(client));
  if (!removed.ok())
    std::fprintf(stderr, "poprun: partition %s is not removed: %s\n", printable(partition.id).c_str(),
                 printable(removed.message()).c_str());
}

Result<Held> attempt(const HoldOptions& options, PodsClient& client, const std::string& token) {
  POP_ASSIGN_OR_RETURN(JobPartition partition, jobPartition(options, client, deadlineOf(client)));
  v1::HoldRequest request;
  request.set_partition(partition.id);
  request.set_holder(options.holder);
  request.set_token(token);
  auto hold = std::make_unique<PartitionHold>(client, request);
  const Status held = hold->waitUntilHeld();
  if (held.ok()) return Held{.partition = std::move(partition), .hold = std::move(hold)};
  hold = nullptr;
  if (held.code() == Code::kUnimplemented) return Held{.partition = std::move(partition), .hold = nullptr};
  removeIfAsked(options, client, partition);
  return held;
}

// Another's job may end meanwhile.
Result<Held> attempts(const HoldOptions& options, PodsClient& client) {
  const std::string token = sys::randomName() + sys::randomName();
  Result<Held> held = attempt(options, client, token);
  for (int i = 1; i < options.attempts && !held.ok(); ++i) {
    std::this_thread::sleep_for(kBetweenAttempts);
    held = attempt(options, client, token);
  }
  return held;
}

// A reader's end that is not read is an end, too.
void waitForStdinsEnd() {
  char bytes[256];
  ssize_t got = 0;
  do {
    got = ::read(STDIN_FILENO, bytes, sizeof bytes);
  } while (got > 0 || (got < 0 && errno == EINTR));
}

}  // namespace

int holdPartition(const HoldOptions& options, PodsClient& client) {
  ::signal(SIGPIPE, SIG_IGN);  // a poprun that is gone must not keep this from letting go
  Result<Held> held = attempts(options, client);
  if (!held.ok()) {
    std::fprintf(stderr, "poprun: cannot get a V-IPU partition: %s\n",
                 printable(held.status().message()).c_str());
    return exitCodeOf(held.status());
  }
  if (held->hold) {
    held->hold->onLost([](const Status& why) {
      std::fprintf(stderr, "poprun: the V-IPU partition is held no longer: %s\n",
                   printable(why.message()).c_str());
    });
  }
  const int printed = printText(held->partition.id + '\n');
  waitForStdinsEnd();
  held->hold = nullptr;
  removeIfAsked(options, client, held->partition);
  return printed;
}

}  // namespace pop::popctl
