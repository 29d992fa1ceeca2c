// SPDX-License-Identifier: Apache-2.0
// PopDist's free functions: a registry of named communicators on the process's context, and one for calls
// that are matched by tags.
#include "popdist/backend.hpp"

#include <concepts>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "libpopdist/collectives/api/call_arguments.h"
#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/collectives/async/async_impl.h"
#include "libpopdist/collectives/context/backends.h"
#include "popdist/async.hpp"
#include "popdist/collectives.hpp"
#include "popdist/context.hpp"
#include "popdist/error.hpp"

namespace popdist {

namespace {

// The communicators, by name.
struct Communicators {
  bool initialized = false;
  /// nullptr: registered, but this instance is not a member.
  std::map<std::string, std::unique_ptr<Communicator>> named;
  /// A communicator of the default one's members for calls with tags; the first such call makes `tagged` from
  /// it.
  std::unique_ptr<Communicator> for_tags;
  std::unique_ptr<AsyncCommunicator> tagged;
};

// PopDist's API is global, so this is the library's one global besides the context itself.
struct Registry {
  std::mutex mutex;
  Communicators known;
};

Registry& registry() {
  static Registry& instance = *new Registry;  // never destroyed: other threads may outlive main
  return instance;
}

[[noreturn]] void refuseOutsider(const char* operation, const std::string& id) {
  throw popdist_error(
      ErrorCode::kFailedPrecondition,
      std::string(operation) + ": this instance is not a member of the communicator '" + id + "'");
}

/// nullptr: `id` is a tag.
Communicator* communicatorOf(const std::string& id, const char* operation) {
  initializeBackend();
  auto& [mutex, known] = registry();
  const std::lock_guard lock(mutex);
  const auto found = known.named.find(id);
  if (found == known.named.end())
    return id == defaultCommunicatorId() ? &Context::fromEnvironment().world() : nullptr;
  if (found->second == nullptr) refuseOutsider(operation, id);
  return found->second.get();
}

/// The AsyncCommunicator for calls with tags. A refused call does not make one, since its destructor waits
/// for the others'.
template <typename Make>
AsyncCommunicator& communicatorOfTags(const std::string& tag, const char* operation, const Make& make) {
  auto& [mutex, known] = registry();
  const std::lock_guard lock(mutex);
  if (!known.tagged) {
    if (!known.named.contains(defaultCommunicatorId()))
      Context::fromEnvironment().world();  // throws where there is none
    if (!known.for_tags) refuseOutsider(operation, defaultCommunicatorId());
    async::checkIssue(*known.for_tags, tag, make(known.for_tags->rank()));
    known.tagged = std::make_unique<AsyncCommunicator>(std::move(known.for_tags));
  }
  return *known.tagged;
}

/// Runs a call on a communicator, or issues it under a tag. `make(rank)` returns the call of the member with
/// that rank.
template <std::invocable<int> Make>
void call(const std::string& id, const char* operation, const Make& make) {
  if (Communicator* const communicator = communicatorOf(id, operation))
    return communicator->impl().run(make(communicator->rank()), {});
  AsyncCommunicator& tagged = communicatorOfTags(id, operation, make);
  tagged.impl().issue(id, make(tagged.rank()), std::nullopt).wait();
}

/// A call that is the same for all members.
void call(const std::string& id, const char* operation, const group::CollectiveCall& same) {
  call(id, operation, [&same](int /*rank*/) { return same; });
}

int rankOf(unsigned root) {
  return static_cast<int>(root);
}

}  // namespace

void registerBackend(const std::string& name_or_path) {
  context::throwIfFailed({context::registerBackendName(name_or_path)}, "registerBackend");
}

void registerDefaultBackend() {
  context::throwIfFailed({context::registerBackendName("")}, "registerDefaultBackend");
}

void initializeBackend() {
  auto& [mutex, known] = registry();
  const std::lock_guard lock(mutex);
  if (known.initialized) return;
  Context& context = Context::fromEnvironment();
  std::set<unsigned> all;
  for (int instance = 0; instance < context.numInstances(); ++instance)
    all.insert(static_cast<unsigned>(instance));
  known.for_tags = context.createCommunicator(all);
  known.initialized = true;
}

void init() {
  initializeBackend();
}

void finalizeBackend() {
  if (!isBackendInitialized()) return;
  Context::fromEnvironment().world().barrier();
  Communicators ended;  // destroyed after the lock is: the end of calls with tags waits for the others'
  auto& [mutex, known] = registry();
  const std::lock_guard lock(mutex);
  std::swap(known, ended);
}

bool isBackendInitialized() {
  auto& [mutex, known] = registry();
  const std::lock_guard lock(mutex);
  return known.initialized;
}

void synchronize() {
  communicatorOf(defaultCommunicatorId(), "synchronize")->barrier();
}

void registerCommunicator(const std::set<std::uint32_t>& participants, const std::string& communicator_id) {
  initializeBackend();
  Context& context = Context::fromEnvironment();
  auto communicator = context.createCommunicator(participants);
  const bool is_default = communicator_id == defaultCommunicatorId();
  auto for_tags = is_default ? context.createCommunicator(participants) : nullptr;
  std::unique_ptr<AsyncCommunicator> ended;  // destroyed after the lock is, as above
  auto& [mutex, known] = registry();
  const std::lock_guard lock(mutex);
  known.named[communicator_id] = std::move(communicator);
  if (!is_default) return;
  ended = std::move(known.tagged);
  known.for_tags = std::move(for_tags);
}

namespace collectives {

void allReduceSum(void* data, std::size_t count, Type type, const std::string& id) {
  call(id, "allReduceSum", api::allReduce(data, data, count, type, Operator::kSum));
}

void allReduce(const void* in, void* out, std::size_t count, Type type, Operator op, const std::string& id) {
  call(id, "allReduce", api::allReduce(in, out, count, type, op));
}

void reduceScatter(const void* in, void* out, std::size_t count, Type type, const std::string& id) {
  call(id, "reduceScatter", api::reduceScatter(in, out, count, type, Operator::kSum));
}

void reduceScatter(const void* in, void* out, std::size_t count, Type type, Operator op,
                   const std::string& id) {
  call(id, "reduceScatter", api::reduceScatter(in, out, count, type, op));
}

void reduce(const void* in, void* out, std::size_t count, Type type, Operator op, unsigned root_rank,
            const std::string& id) {
  call(id, "reduce", api::reduce(in, out, count, type, op, rankOf(root_rank)));
}

void allGather(const void* in, void* out, std::size_t count, Type type, const std::string& id) {
  call(id, "allGather", [&](int rank) { return api::allGather(rank, in, out, count, type); });
}

void allGather(const void* in, void* out, std::span<const std::size_t> counts, Type type,
               const std::string& id) {
  call(id, "allGather", api::allGather(in, out, counts, type));
}

void broadcast(void* data, std::size_t count, Type type, unsigned root_rank, const std::string& id) {
  call(id, "broadcast", api::broadcast(data, count, type, rankOf(root_rank)));
}

void gather(const void* in, void* out, std::size_t count, Type type, unsigned root_rank,
            const std::string& id) {
  call(id, "gather", [&](int rank) { return api::gather(rank, in, out, count, type, rankOf(root_rank)); });
}

void scatter(const void* in, void* out, std::size_t count, Type type, unsigned root_rank,
             const std::string& id) {
  call(id, "scatter", api::scatter(in, out, count, type, rankOf(root_rank)));
}

void allToAll(const void* in, void* out, std::size_t count, Type type, const std::string& id) {
  call(id, "allToAll", api::allToAll(in, out, count, type));
}

void allToAll(const void* in, std::span<const std::size_t> send_counts, void* out,
              std::span<const std::size_t> recv_counts, Type type, const std::string& id) {
  call(id, "allToAll", api::allToAll(in, send_counts, out, recv_counts, type));
}

void sendRecv(const void* in, std::size_t send_count, int to, void* out, std::size_t recv_count, int from,
              Type type, const std::string& id) {
  call(id, "sendRecv", api::sendRecv(in, send_count, to, out, recv_count, from, type));
}

void barrier(const std::string& id) {
  call(id, "barrier", api::barrier());
}

}  // namespace collectives
}  // namespace popdist
