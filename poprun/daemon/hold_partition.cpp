// SPDX-License-Identifier: Apache-2.0
#include "poprun/daemon/hold_partition.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "common/base/text.h"
#include "common/sys/random_name.h"
#include "popctl/report.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/rpc/partition_hold.h"
#include "popctl/rpc/reconnects.h"
#include "popctl/server_of.h"
#include "poprun/daemon/obtain_partition.h"
#include "poprun/daemon/partition_order.h"
#include "poprun/session/job_session.h"

namespace pop::daemon {
namespace {

using popctl::PartitionHold;

constexpr std::chrono::seconds kBetweenAttempts{1};
constexpr std::chrono::seconds kUntilLetGo{2};

struct Held {
  JobPartition partition;
  std::unique_ptr<PartitionHold> hold;  ///< null: V-IPU's server, which has no such thing
};

Deadline deadlineOf(const PodsClient& client) {
  return std::chrono::steady_clock::now() + client.timeout();
}

// A popdistd that is being restarted is back soon.
Status removeOnceReached(PodsClient& client, const std::string& partition) {
  const Deadline deadline = deadlineOf(client);
  while (true) {
    Status removed = removePartition(client, partition, deadline);
    const bool may_be_back = removed.code() == Code::kUnavailable;
    if (!may_be_back || std::chrono::steady_clock::now() + popctl::kUntilNextAttempt >= deadline)
      return removed;
    client.waitForNextAttempt();
  }
}

void removeIfAsked(const PartitionOrder& order, PodsClient& client, const JobPartition& partition) {
  if (!order.job.partition.remove || !partition.made) return;
  const Status removed = removeOnceReached(client, partition.id);
  const bool has_gone = order.only_remove && removed.code() == Code::kNotFound;  // by popdistd itself
  if (!removed.ok() && !has_gone)
    std::fprintf(stderr, "poprun: partition %s is not removed: %s\n", printable(partition.id).c_str(),
                 printable(removed.message()).c_str());
}

Result<Held> attempt(const PartitionOrder& order, PodsClient& client, const std::string& token) {
  POP_ASSIGN_OR_RETURN(JobPartition partition, jobPartition(order, client, deadlineOf(client)));
  popctl::v1::HoldRequest request;
  request.set_partition(partition.id);
  request.set_holder(order.holder);
  request.set_token(token);
  request.set_remove(order.job.partition.remove && partition.made);
  auto hold = std::make_unique<PartitionHold>(client, request);
  Status held = hold->waitUntilHeld();
  if (!held.ok()) hold = nullptr;
  if (held.ok() || held.code() == Code::kUnimplemented) {  // nobody changes it meanwhile
    Result<std::string> system = systemIn(order, client, partition.id);
    if (system.ok()) {
      partition.system = std::move(*system);
      return Held{.partition = std::move(partition), .hold = std::move(hold)};
    }
    hold = nullptr;
    held = system.status();
  }
  removeIfAsked(order, client, partition);
  return held;
}

// A reader's end that is not read is an end, too.
bool stdinEndsWithin(std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + limit;
  char bytes[256];
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready == 0) return false;
    errno = ready < 0 ? errno : 0;
    const bool is_there = ready > 0 && ::read(STDIN_FILENO, bytes, sizeof bytes) > 0;
    if (!is_there && errno != EINTR && errno != EAGAIN) return true;
  }
}

// Another's job may end meanwhile. Stop retrying when poprun has exited.
Result<Held> attempts(const PartitionOrder& order, PodsClient& client) {
  const std::string token = sys::randomName() + sys::randomName();
  Result<Held> held = attempt(order, client, token);
  for (int i = 1; i < order.job.partition.attempts && !held.ok() && !stdinEndsWithin(kBetweenAttempts); ++i)
    held = attempt(order, client, token);
  return held;
}

// The job after this one may name the same partition, and must not find it held.
void letGo(const PartitionOrder& order, PodsClient& client, Held& held) {
  if (!held.hold) return;
  held.hold = nullptr;
  const Deadline deadline = std::chrono::steady_clock::now() + kUntilLetGo;
  (void)waitUntilLetGo(client, held.partition.id, order.holder, deadline);  // else the server ends it
}

void waitForStdinsEnd() {
  while (!stdinEndsWithin(std::chrono::hours(1))) {
  }
}

bool isRead(int output) {
  pollfd end{output, 0, 0};
  return ::poll(&end, 1, 0) <= 0 || (end.revents & POLLERR) == 0;
}

int removeHeldPartition(const PartitionOrder& order, PodsClient& client) {
  removeIfAsked(order, client, {.id = order.job.partition.name, .made = true});
  return 0;
}

int hold(const PartitionOrder& order, PodsClient& client) {
  ::signal(SIGPIPE, SIG_IGN);  // a poprun that is gone must not keep this from letting go
  Result<Held> held = attempts(order, client);
  if (!held.ok()) {
    if (isRead(STDOUT_FILENO))
      std::fprintf(stderr, "poprun: cannot get a V-IPU partition: %s\n",
                   printable(held.status().message()).c_str());
    return popctl::exitCodeOf(held.status());
  }
  if (held->hold) {
    held->hold->onLost([](const Status& why) {
      std::fprintf(stderr, "poprun: the V-IPU partition is held no longer: %s\n",
                   printable(why.message()).c_str());
    });
  }
  const std::string lines =
      held->partition.id + (held->partition.made ? " made\n" : "\n") + held->partition.system + '\n';
  const int printed = isRead(STDOUT_FILENO) ? popctl::printText(lines) : 0;
  waitForStdinsEnd();
  letGo(order, client, *held);
  removeIfAsked(order, client, held->partition);
  return printed;
}

std::string addressOf(const model::PartitionRequest& request) {
  const bool is_ipv6 = request.server_host.find(':') != std::string::npos && request.server_host[0] != '[';
  const std::string host = is_ipv6 ? '[' + request.server_host + ']' : request.server_host;
  return host + ':' + std::to_string(request.server_port);
}

// As poprun says, and nobody's configuration: V-IPU's servers speak without TLS, unless a variable says else.
Result<popctl::Server> serverFor(const popctl::Command& command) {
  popctl::Surroundings here = popctl::ownSurroundings();
  here.file = [](const std::string& path) { return Status(Code::kNotFound, path); };
  here.listens = nullptr;
  POP_ASSIGN_OR_RETURN(popctl::ServerSettings settings, popctl::serverSettings(command.common, here));
  settings.program = "poprun";
  POP_ASSIGN_OR_RETURN(popctl::Server server, popctl::serverOf(command, settings));
  server.tls_option = "POPDIST_TLS=DIR";
  server.options = "--vipu-server-host, --vipu-server-port";
  server.timeout_option = "--vipu-server-timeout";
  return server;
}

}  // namespace

int holdPartition() {
  Result<PartitionOrder> order = receive(STDIN_FILENO);
  if (!order.ok()) return launcherFailed(order.status());
  const model::PartitionRequest& request = order.value().job.partition;
  popctl::Command command;
  command.common.server = addressOf(request);
  command.common.server_option = "--vipu-server-host, --vipu-server-port";
  command.common.timeout_s = request.server_timeout_seconds;
  Result<popctl::Server> server = serverFor(command);
  if (!server.ok()) return launcherFailed(server.status());
  PodsClient client(std::move(*server), popctl::timeoutOf(command));
  return order->only_remove ? removeHeldPartition(*order, client) : hold(*order, client);
}

}  // namespace pop::daemon
