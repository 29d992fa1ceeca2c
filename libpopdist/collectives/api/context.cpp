// SPDX-License-Identifier: Apache-2.0
#include "popdist/context.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <numeric>
#include <semaphore>
#include <thread>

#include "common/base/text.h"
#include "common/contract/segment.h"
#include "common/sys/blocked_signals.h"
#include "common/sys/futex.h"
#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/collectives/calls/make_group.h"
#include "libpopdist/collectives/context/agent_link.h"
#include "libpopdist/collectives/context/environment.h"
#include "libpopdist/collectives/context/memory_link.h"
#include "libpopdist/collectives/context/one_copy.h"
#include "libpopdist/collectives/group/door.h"
#include "libpopdist/collectives/group/fence.h"
#include "libpopdist/trace/recorder.h"
#include "popdist/error.hpp"

namespace popdist {
namespace {

using context::throwIfFailed;

constexpr std::chrono::milliseconds kConnectTimeout{30'000};

// A thread that reads or writes a stream keeps it locked, possibly for ever.
constexpr std::chrono::milliseconds kFlushTimeout{500};

// From an exception that has been told to others to the end of its process.
constexpr std::chrono::milliseconds kLongestUnwinding{5000};
constexpr std::chrono::milliseconds kBetweenLooks{10};

// Flushes what the program has written, as far as that takes no longer. Each stream gets a thread, because it
// may be the one that is stuck.
void flushWithin(std::chrono::milliseconds timeout) try {
  const std::array<std::FILE*, 3> streams{stdout, stderr, nullptr};  // nullptr: all
  const auto flushed = std::make_shared<std::counting_semaphore<3>>(0);
  const pop::sys::BlockedSignals blocked;
  for (std::FILE* const each : streams) {
    std::thread([each, flushed] {
      std::fflush(each);
      flushed->release();
    }).detach();
  }
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (std::size_t left = streams.size(); left > 0 && flushed->try_acquire_until(deadline); --left) continue;
} catch (const std::exception&) {  // no thread, or no memory for one
  for (std::FILE* const each : {stdout, stderr}) {
    if (::ftrylockfile(each) != 0) continue;
    std::fflush(each);
    ::funlockfile(each);
  }
}

// Waits for the end of the instance whose failure this one was told of: the job has failed by that one, and
// it is about to end.
void awaitCause(const context::ContextState& state) {
  pop::contract::SegmentHeader* const header = state.link->segment().header();
  if (header == nullptr) return;
  const auto slots = pop::contract::fenceSlotsOf(header, header->instances);
  const int cause =
      static_cast<int>(slots[static_cast<std::size_t>(state.instance_index)].told_by.load()) - 1;
  const auto deadline = std::chrono::steady_clock::now() + kLongestUnwinding;
  while (cause >= 0 && std::chrono::steady_clock::now() < deadline) {
    const std::uint32_t ended = header->end_notice_count.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < std::min(ended, header->instances); ++i)
      if (pop::contract::endNoticesOf(header)[i].instance == cause) return;
    pop::sys::futexWait(header->end_notice_count, ended, kBetweenLooks);
  }
}

std::unique_ptr<context::Link> makeLink(const pop::contract::InstanceEnv& env) {
  context::claimThisProcess();
  if (!env.agent_socket.empty()) {
    auto link = context::AgentLink::connect(env, kConnectTimeout);
    throwIfFailed({link.status()}, "Context::fromEnvironment");
    return std::move(*link);
  }
  if (env.num_instances > 1 || env.num_local_replicas < env.num_total_replicas) {
    throw popdist_error(ErrorCode::kFailedPrecondition,
                        "Context::fromEnvironment: the environment describes a job of several instances or "
                        "replicas but names "
                        "no agent (POPDIST_AGENT_SOCKET): start the program with poprun");
  }
  auto hub = context::MemoryHub::create(1, context::mappableSegmentBytes(1));
  throwIfFailed({hub.status()}, "Context::fromEnvironment");
  return std::make_unique<context::MemoryLink>(std::move(*hub));
}

constexpr const char* kCreateCommunicator = "Context::createCommunicator";
constexpr std::size_t kMostNameBytes = 200;

void checkMembers(const std::set<unsigned>& members, int instances) {
  if (!members.empty() && *members.rbegin() < static_cast<unsigned>(instances)) return;
  const std::string wrong =
      members.empty() ? "the set is empty" : std::to_string(*members.rbegin()) + " does not exist";
  throw popdist_error(ErrorCode::kInvalidArgument, std::string(kCreateCommunicator) +
                                                       ": participants must be instances from 0 to " +
                                                       std::to_string(instances - 1) + "; " + wrong);
}

[[noreturn]] void refuseReport(std::string_view name) {
  throw popdist_error(ErrorCode::kInvalidArgument,
                      "Context::report: the name " +
                          (name.empty() ? std::string("is empty")
                                        : pop::inQuotes(name) + " has " + std::to_string(name.size()) +
                                              " bytes; at most 64 are allowed"));
}

context::BackendChoice loadChosenBackend() {
  pop::Result<context::BackendChoice> backend = context::chosenBackend();
  throwIfFailed({backend.status()}, "Context::fromEnvironment");
  return std::move(*backend);
}

std::unique_ptr<Communicator> makeCommunicator(context::ContextState& state, std::vector<int> instances,
                                               const std::string& name = {}) {
  auto group = state.backend.plugin == nullptr ? calls::makeNativeGroup(state, std::move(instances), name)
                                               : calls::makeBackendGroup(state, std::move(instances), name);
  if (!group) return nullptr;
  return std::make_unique<Communicator>(std::make_unique<Communicator::Impl>(std::move(group)));
}

}  // namespace

Context::Impl::Impl(const pop::contract::InstanceEnv& instance_env, std::unique_ptr<context::Link> link,
                    const context::TransportSettings& transport, const context::BackendChoice& backend)
    : env(instance_env),
      heap(link->segment()),
      reporter(link->segment().header(), instance_env.instance_index) {
  if (trace::Recorder* const recorder = trace::recorder()) recorder->setInstance(env.instance_index);
  state.link = std::move(link);
  state.backend = backend;
  state.instance_index = env.instance_index;
  state.num_local_instances = env.num_local_instances;
  state.first_local_instance = env.instance_index - env.local_instance_index;
  state.transport = transport;
  state.door = std::make_shared<group::Door>(state, env.num_instances);
  throwIfFailed(state.door->publish(), "Context::fromEnvironment");
  world = makeForAll();
  throwIfFailed(state.door->learn(), "Context::fromEnvironment");
}

std::unique_ptr<Communicator> Context::Impl::makeForAll() {
  std::vector<int> everybody(static_cast<std::size_t>(env.num_instances));
  std::iota(everybody.begin(), everybody.end(), 0);
  return makeCommunicator(state, std::move(everybody));
}

void Context::Impl::abortInternal(const pop::Status& why, int instance) {
  if (internal_ != nullptr) internal_->impl().abort(why, instance);
  for (const Abort& abort : aborts) abort(why, instance);
}

void Context::Impl::prepareInternal() {
  refuseFork("the library's own communicator");
  if (internal_ == nullptr || !internal_->impl().group().isUsable()) internal_ = makeForAll();
}

void Context::Impl::refuseFork(const char* operation) const {
  if (fork_ == pop::sys::forksOfThisProcess()) return;
  throw popdist_error(
      ErrorCode::kFailedPrecondition,
      std::string(operation) +
          ": this process was forked from the one that owns the context; only that one can use it",
      {.rank = -1, .peer = -1, .operation = operation});
}

Context& Context::fromEnvironment() {
  // Never destroyed: another thread may be in a collective while this one exits.
  static Context& context =
      *new Context(std::make_unique<Impl>(context::environment(), makeLink(context::environment()),
                                          context::transportSettingsFromEnvironment(), loadChosenBackend()));
  return context;
}

Context::Context(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Context::~Context() = default;

int Context::instanceIndex() const {
  return impl_->env.instance_index;
}
int Context::numInstances() const {
  return impl_->env.num_instances;
}
int Context::localInstanceIndex() const {
  return impl_->env.local_instance_index;
}
int Context::numTotalReplicas() const {
  return impl_->env.num_total_replicas;
}
int Context::numLocalReplicas() const {
  return impl_->env.num_local_replicas;
}
int Context::replicaIndexOffset() const {
  return impl_->env.replica_index_offset;
}
int Context::numIpusPerReplica() const {
  return impl_->env.num_ipus_per_replica;
}
const std::string& Context::system() const {
  return impl_->env.system;
}
bool Context::offline() const {
  return impl_->env.offline;
}

void Context::setTimeout(std::chrono::milliseconds timeout) {
  if (timeout.count() < 1) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        "Context::setTimeout: the timeout must be at least a millisecond");
  }
  impl_->state.timeout_ms = std::min(timeout, context::kLongestTimeout).count();
}

void Context::setInterruptCheck(bool (*check)()) {
  impl_->state.interrupt_check = check;
}

std::chrono::milliseconds Context::timeout() const {
  return impl_->state.timeout();
}

void Context::put(const std::string& key, const std::string& value) {
  impl_->refuseFork("Context::put");
  if (key.empty()) throw popdist_error(ErrorCode::kInvalidArgument, "Context::put: the key is empty");
  if (key.starts_with(context::kReservedKeys)) {
    throw popdist_error(
        ErrorCode::kInvalidArgument,
        "Context::put: the key '" + key + "' begins with popdist/, which is reserved for libpopdist");
  }
  throwIfFailed(impl_->state.link->put(key, value, timeout()), "Context::put");
}

std::optional<std::string> Context::get(const std::string& key) {
  impl_->refuseFork("Context::get");
  std::optional<std::string> value;
  throwIfFailed(impl_->state.link->get(key, timeout(), value), "Context::get");
  return value;
}

void Context::fence() {
  impl_->refuseFork("Context::fence");
  throwIfFailed(group::enterFence(impl_->state, "fence"), "Context::fence");
}

bool Context::report(std::string_view name, double value, Fold fold) {
  static_assert(static_cast<int>(Fold::kMax) == static_cast<int>(pop::contract::kLastFold));
  if (name.empty() || name.size() > pop::contract::kMostReportedNameBytes) refuseReport(name);
  if (!std::isfinite(value)) return false;
  if (!impl_->reporter.isHeard()) return true;
  impl_->refuseFork("Context::report");
  return impl_->reporter.report(name, value, static_cast<pop::contract::Fold>(fold));
}

void Context::abort(int exit_code, const std::string& message) {
  if (exit_code < 1 || exit_code > 255) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        "Context::abort: exit code " + std::to_string(exit_code) + " is not from 1 to 255");
  }
  impl_->refuseFork("Context::abort");
  flushWithin(kFlushTimeout);  // first: the agent may stop us as soon as it knows
  awaitCause(impl_->state);
  impl_->state.link->abort(exit_code, message);
  std::_Exit(exit_code);
}

Communicator& Context::world() {
  return *impl_->world;
}

std::unique_ptr<Communicator> Context::createCommunicator(const std::set<unsigned>& participants) {
  impl_->refuseFork(kCreateCommunicator);
  checkMembers(participants, numInstances());
  return makeCommunicator(impl_->state, {participants.begin(), participants.end()});
}

std::unique_ptr<Communicator> Context::createCommunicator(const std::set<unsigned>& members,
                                                          const std::string& name) {
  impl_->refuseFork(kCreateCommunicator);
  checkMembers(members, numInstances());
  if (!members.contains(static_cast<unsigned>(instanceIndex()))) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        std::string(kCreateCommunicator) + ": instance " + std::to_string(instanceIndex()) +
                            " is not among the members of " + pop::inQuotes(name) +
                            "; only these make a communicator with a name");
  }
  if (name.empty() || name.size() > kMostNameBytes || name.starts_with(context::kReservedKeys)) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        std::string(kCreateCommunicator) + ": the name " + pop::inQuotes(pop::bounded(name)) +
                            " must have from 1 to " + std::to_string(kMostNameBytes) +
                            " bytes and not begin with popdist/, which is reserved for libpopdist");
  }
  return makeCommunicator(impl_->state, {members.begin(), members.end()}, name);
}

}  // namespace popdist
