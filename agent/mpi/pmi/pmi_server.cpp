// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmi/pmi_server.h"

#include <utility>
#include <vector>

#include "agent/mpi/pmi/process_mapping.h"
#include "common/log/log.h"
#include "common/sys/unix_socket.h"

namespace pop::agent {
namespace {

// The longest line that a client sends, and some.
constexpr std::size_t kMaxLineBytes = 4096;

PmiWorld worldOf(const JobSlice& slice) {
  PmiWorld world{.name = slice.job_id, .size = slice.num_instances, .programs = {}, .process_mapping = {}};
  for (const InstanceOrder& order : slice.instances) world.programs[order.env.instance_index] = order.program;
  std::vector<int> counts;
  for (const HostInstances& host : *slice.hosts) counts.push_back(host.count);
  world.process_mapping = processMapping(counts);
  return world;
}

}  // namespace

void PmiServer::open(const JobSlice& slice) {
  connections_.clear();
  session_.reset();
  if (slice.env_families.contains(contract::EnvFamily::kPmi)) session_.emplace(worldOf(slice));
}

Result<sys::Fd> PmiServer::connect(int instance) {
  if (!session_) return sys::Fd();
  POP_ASSIGN_OR_RETURN(auto ends, sys::socketPair());
  connections_.erase(instance);
  connections_.try_emplace(instance, loop_, std::move(ends.first),
                           AnsweredSocket::Events{.readable = [this, instance] { receive(instance); },
                                                  .resumed = [this, instance] { takeLines(instance); }});
  return std::move(ends.second);
}

void PmiServer::receive(int instance) {
  Connection& connection = connections_.at(instance);
  Result<sys::Received> received = sys::receiveSome(connection.socket.fd());
  if (!received.ok() || (received->bytes.empty() && !received->would_block)) return close(instance);
  connection.received += received->bytes;
  takeLines(instance);
}

void PmiServer::takeLines(int instance) {
  while (true) {
    const auto found = connections_.find(instance);  // the line's handling may have closed it
    if (found == connections_.end() || found->second.socket.hasUntaken()) return;
    const std::optional<std::string> line = nextLine(found->second);
    if (line) {
      carryOut(instance, session_->take(instance, *line));
    } else if (found->second.received.size() > kMaxLineBytes) {
      return carryOut(instance, PmiSession::takeEndless(instance));
    } else {
      return;
    }
  }
}

std::optional<std::string> PmiServer::nextLine(Connection& connection) {
  const std::size_t end = connection.received.find('\n', connection.answered);
  if (end == std::string::npos) {
    connection.received.erase(0, std::exchange(connection.answered, 0));
    return std::nullopt;
  }
  const std::size_t begin = std::exchange(connection.answered, end + 1);
  return connection.received.substr(begin, end - begin);
}

void PmiServer::carryOut(int instance, PmiOutcome outcome) {
  if (!outcome.warning.empty()) log::warning(outcome.warning);
  if (outcome.is_garbage) return close(instance);
  if (!outcome.answer.empty()) connections_.at(instance).socket.send(outcome.answer + '\n');
  abort(outcome.abort);
  if (outcome.reached) events_.fence_reached(std::move(*outcome.reached));
}

void PmiServer::release(const PutValues& values) {
  if (!session_) return;
  for (const int instance : session_->release(values))
    connections_.at(instance).socket.send(std::string(PmiSession::kBarrierOut) + '\n');
}

void PmiServer::announce(const EndNotice& end_notice) {
  if (session_) abort(session_->announce(end_notice));
}

void PmiServer::abort(const std::optional<PmiAbort>& abort) {
  if (abort) events_.aborted(abort->instance, abort->exit_code, abort->message);
}

void PmiServer::close(int instance) {
  session_->leave(instance);
  connections_.erase(instance);
}

}  // namespace pop::agent
