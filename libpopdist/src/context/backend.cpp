// SPDX-License-Identifier: Apache-2.0
// PopDist's free functions: a registry of named communicators on the process's context.
#include "popdist/backend.hpp"

#include <map>
#include <memory>
#include <mutex>

#include "libpopdist/src/context/backends.h"
#include "libpopdist/src/context/group.h"
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
};

Registry& registry() {
  static Registry& instance = *new Registry;  // never destroyed: other threads may outlive main
  return instance;
}

Communicator& communicatorOf(const std::string& id, const char* operation) {
  initializeBackend();
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  const auto found = known.communicators.find(id);
  if (found == known.communicators.end()) {
    if (id == defaultCommunicatorId()) return Context::fromEnvironment().world();
    throw popdist_error(ErrorCode::kNotFound, std::string(operation) + ": no communicator '" + id +
                                                  "'; call registerCommunicator on all instances");
  }
  if (found->second == nullptr) {
    throw popdist_error(
        ErrorCode::kFailedPrecondition,
        std::string(operation) + ": this instance does not take part in the communicator '" + id + "'");
  }
  return *found->second;
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
  Context::fromEnvironment();
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
  known.communicators.clear();
  known.initialized = false;
}

bool isBackendInitialized() {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  return known.initialized;
}

void synchronize() {
  communicatorOf(defaultCommunicatorId(), "synchronize").synchronize();
}

void registerCommunicator(const std::set<std::uint32_t>& participants, const std::string& communicator_id) {
  initializeBackend();
  auto communicator =
      Context::fromEnvironment().createCommunicator({participants.begin(), participants.end()});
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  known.communicators[communicator_id] = std::move(communicator);
}

namespace collectives {

void allReduceSum(void* data, std::size_t count, Type type, const std::string& communicator_id) {
  communicatorOf(communicator_id, "allReduceSum").allReduceSum(data, count, type);
}

void allGather(const void* in, void* out, std::size_t count, Type type, const std::string& communicator_id) {
  communicatorOf(communicator_id, "allGather").allGather(in, out, count, type);
}

void reduceScatter(const void* in, void* out, std::size_t count, Type type,
                   const std::string& communicator_id) {
  communicatorOf(communicator_id, "reduceScatter").reduceScatter(in, out, count, type);
}

void broadcast(void* data, std::size_t count, Type type, unsigned root_rank,
               const std::string& communicator_id) {
  communicatorOf(communicator_id, "broadcast").broadcast(data, count, type, static_cast<int>(root_rank));
}

void allToAll(const void* in, void* out, std::size_t count, Type type, const std::string& communicator_id) {
  communicatorOf(communicator_id, "allToAll").allToAll(in, out, count, type);
}

}  // namespace collectives
}  // namespace popdist
