// SPDX-License-Identifier: Apache-2.0
// PopDist's free functions: a registry of named communicators on the process's context, and one for calls
// that are matched by tags.
#include "popdist/backend.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "libpopdist/src/context/backends.h"
#include "libpopdist/src/context/context_impl.h"
#include "popdist/async.hpp"
#include "popdist/collectives.hpp"
#include "popdist/context.hpp"
#include "popdist/error.hpp"

namespace popdist {
namespace {

// PopDist's API is global, so this is the library's one global besides the context itself.
struct Registry {
  std::mutex mutex;
  bool initialized = false;
  /// nullptr: registered, without this instance.
  std::map<std::string, std::unique_ptr<Communicator>> communicators;
  /// Of the members of the default one, for calls with tags: the first of them makes `tagged` of it.
  std::unique_ptr<Communicator> for_tags;
  std::unique_ptr<AsyncCommunicator> tagged;
};

Registry& registry() {
  static Registry& instance = *new Registry;  // never destroyed: other threads may outlive main
  return instance;
}

[[noreturn]] void refuseOutsider(const char* operation, const std::string& id) {
  throw popdist_error(
      ErrorCode::kFailedPrecondition,
      std::string(operation) + ": this instance does not take part in the communicator '" + id + "'");
}

/// nullptr: `id` is a tag.
Communicator* communicatorOf(const std::string& id, const char* operation) {
  initializeBackend();
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  const auto found = known.communicators.find(id);
  if (found == known.communicators.end())
    return id == defaultCommunicatorId() ? &Context::fromEnvironment().world() : nullptr;
  if (found->second == nullptr) refuseOutsider(operation, id);
  return found->second.get();
}

AsyncCommunicator& taggedCalls(const char* operation) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  if (!known.tagged) {
    if (!known.communicators.contains(defaultCommunicatorId()))
      Context::fromEnvironment().world();  // throws where there is none
    if (!known.for_tags) refuseOutsider(operation, defaultCommunicatorId());
    known.tagged = std::make_unique<AsyncCommunicator>(std::move(known.for_tags));
  }
  return *known.tagged;
}

/// `issue(where, name...)` calls on a communicator, which takes no name, or issues the same call under the
/// tag.
template <typename Issue>
void call(const std::string& id, const char* operation, const Issue& issue) {
  if (Communicator* const communicator = communicatorOf(id, operation)) return issue(*communicator);
  const Pending pending = issue(taggedCalls(operation), id);
  pending.wait();
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
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
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
  Context::fromEnvironment().world().synchronize();
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  known.tagged.reset();
  known.for_tags.reset();
  known.communicators.clear();
  known.initialized = false;
}

bool isBackendInitialized() {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  return known.initialized;
}

void synchronize() {
  communicatorOf(defaultCommunicatorId(), "synchronize")->synchronize();
}

void registerCommunicator(const std::set<std::uint32_t>& participants, const std::string& communicator_id) {
  initializeBackend();
  Context& context = Context::fromEnvironment();
  const std::set<unsigned> members(participants.begin(), participants.end());
  auto communicator = context.createCommunicator(members);
  const bool is_default = communicator_id == defaultCommunicatorId();
  auto for_tags = is_default ? context.createCommunicator(members) : nullptr;
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  known.communicators[communicator_id] = std::move(communicator);
  if (!is_default) return;
  known.tagged.reset();
  known.for_tags = std::move(for_tags);
}

namespace collectives {

void allReduceSum(void* data, std::size_t count, Type type, const std::string& id) {
  call(id, "allReduceSum", [&](auto& to_call, const auto&... name) {
    return to_call.allReduce(name..., data, data, count, type);
  });
}

void allReduce(const void* in, void* out, std::size_t count, Type type, Operator op, const std::string& id) {
  call(id, "allReduce", [&](auto& to_call, const auto&... name) {
    return to_call.allReduce(name..., in, out, count, type, op);
  });
}

void reduceScatter(const void* in, void* out, std::size_t count, Type type, const std::string& id) {
  call(id, "reduceScatter", [&](auto& to_call, const auto&... name) {
    return to_call.reduceScatter(name..., in, out, count, type);
  });
}

void reduceScatter(const void* in, void* out, std::size_t count, Type type, Operator op,
                   const std::string& id) {
  call(id, "reduceScatter", [&](auto& to_call, const auto&... name) {
    return to_call.reduceScatter(name..., in, out, count, type, op);
  });
}

void reduce(const void* in, void* out, std::size_t count, Type type, Operator op, unsigned root_rank,
            const std::string& id) {
  call(id, "reduce", [&](auto& to_call, const auto&... name) {
    return to_call.reduce(name..., in, out, count, type, op, rankOf(root_rank));
  });
}

void allGather(const void* in, void* out, std::size_t count, Type type, const std::string& id) {
  call(id, "allGather",
       [&](auto& to_call, const auto&... name) { return to_call.allGather(name..., in, out, count, type); });
}

void allGather(const void* in, void* out, std::span<const std::size_t> counts, Type type,
               const std::string& id) {
  call(id, "allGather",
       [&](auto& to_call, const auto&... name) { return to_call.allGather(name..., in, out, counts, type); });
}

void broadcast(void* data, std::size_t count, Type type, unsigned root_rank, const std::string& id) {
  call(id, "broadcast", [&](auto& to_call, const auto&... name) {
    return to_call.broadcast(name..., data, count, type, rankOf(root_rank));
  });
}

void gather(const void* in, void* out, std::size_t count, Type type, unsigned root_rank,
            const std::string& id) {
  call(id, "gather", [&](auto& to_call, const auto&... name) {
    return to_call.gather(name..., in, out, count, type, rankOf(root_rank));
  });
}

void scatter(const void* in, void* out, std::size_t count, Type type, unsigned root_rank,
             const std::string& id) {
  call(id, "scatter", [&](auto& to_call, const auto&... name) {
    return to_call.scatter(name..., in, out, count, type, rankOf(root_rank));
  });
}

void allToAll(const void* in, void* out, std::size_t count, Type type, const std::string& id) {
  call(id, "allToAll",
       [&](auto& to_call, const auto&... name) { return to_call.allToAll(name..., in, out, count, type); });
}

void allToAll(const void* in, std::span<const std::size_t> send_counts, void* out,
              std::span<const std::size_t> recv_counts, Type type, const std::string& id) {
  call(id, "allToAll", [&](auto& to_call, const auto&... name) {
    return to_call.allToAll(name..., in, send_counts, out, recv_counts, type);
  });
}

void sendRecv(const void* in, std::size_t send_count, int to, void* out, std::size_t recv_count, int from,
              Type type, const std::string& id) {
  call(id, "sendRecv", [&](auto& to_call, const auto&... name) {
    return to_call.sendRecv(name..., in, send_count, to, out, recv_count, from, type);
  });
}

void barrier(const std::string& id) {
  call(id, "barrier", [&](auto& to_call, const auto&... name) { return to_call.barrier(name...); });
}

}  // namespace collectives
}  // namespace popdist
