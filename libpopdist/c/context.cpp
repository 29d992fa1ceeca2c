// SPDX-License-Identifier: Apache-2.0
// popdist_c.h: the library, elements, and the context of this process.
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "common/sys/module_file.h"
#include "libpopdist/c/handles.h"
#include "popdist/buffer.hpp"

namespace {

using popdist::c::Call;
using popdist::c::errorOf;

popdist_context_t& processContext() {
  // Never destroyed: another thread may be in a collective while this one exits.
  static popdist_context_t& context = [&]() -> popdist_context_t& {
    popdist::Context& made = popdist::Context::fromEnvironment();
    return *new popdist_context_t{made, {nullptr, &made.world()}};
  }();
  return context;
}

}  // namespace

int popdist_c_interface() {
  return POPDIST_C_INTERFACE;
}
const char* popdist_version() {
  return POP_VERSION;
}
const char* popdist_library_path() {
  static const std::string& path =
      *new std::string(pop::sys::fileOfModule(reinterpret_cast<const void*>(&processContext)));
  return path.c_str();
}

std::size_t popdist_type_bytes(popdist_type_t type) {
  const int number = static_cast<int>(type);
  if (number < POPDIST_BOOL || number > POPDIST_DOUBLE) return 0;
  return popdist::sizeOf(static_cast<popdist::Type>(number));
}
bool popdist_supports(popdist_operator_t op, popdist_type_t type) {
  return op >= POPDIST_SUM && op <= POPDIST_LOCAL && popdist_type_bytes(type) != 0 &&
         popdist::supports(static_cast<popdist::Operator>(op), static_cast<popdist::Type>(type));
}

popdist_error_t* popdist_context(popdist_context_t** context) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(context, "context");
    *context = &processContext();
  });
}

int popdist_instance_index(const popdist_context_t* context) {
  return context->context.instanceIndex();
}
int popdist_num_instances(const popdist_context_t* context) {
  return context->context.numInstances();
}
int popdist_local_instance_index(const popdist_context_t* context) {
  return context->context.localInstanceIndex();
}
int popdist_num_total_replicas(const popdist_context_t* context) {
  return context->context.numTotalReplicas();
}
int popdist_num_local_replicas(const popdist_context_t* context) {
  return context->context.numLocalReplicas();
}
int popdist_replica_index_offset(const popdist_context_t* context) {
  return context->context.replicaIndexOffset();
}
int popdist_num_ipus_per_replica(const popdist_context_t* context) {
  return context->context.numIpusPerReplica();
}

std::int64_t popdist_timeout_ms(const popdist_context_t* context) {
  return context->context.timeout().count();
}
popdist_error_t* popdist_set_timeout_ms(popdist_context_t* context, std::int64_t timeout_ms) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(context, "context");
    context->context.setTimeout(std::chrono::milliseconds(timeout_ms));
  });
}

popdist_error_t* popdist_put(popdist_context_t* context, const char* key, const void* value,
                             std::size_t bytes) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(context, "context");
    call.notNull(key, "key");
    if (bytes > 0) call.notNull(value, "value");
    context->context.put(key, std::string(static_cast<const char*>(value), bytes));
  });
}
popdist_error_t* popdist_get(popdist_context_t* context, const char* key, void** value, std::size_t* bytes) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(context, "context");
    call.notNull(key, "key");
    call.notNull(value, "value");
    call.notNull(bytes, "bytes");
    const std::optional<std::string> found = context->context.get(key);
    void* const copy = found ? std::malloc(found->size() + 1) : nullptr;  // 0 bytes have an address, too
    if (found && copy == nullptr) throw std::bad_alloc();
    if (found) std::memcpy(copy, found->data(), found->size());
    *value = copy;
    *bytes = found ? found->size() : 0;
  });
}
void popdist_free_value(void* value) {
  std::free(value);
}
popdist_error_t* popdist_fence(popdist_context_t* context) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(context, "context");
    context->context.fence();
  });
}

popdist_error_t* popdist_report(popdist_context_t* context, const char* name, double value,
                                popdist_fold_t fold, bool* shown) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(context, "context");
    call.notNull(name, "name");
    const bool is_shown = context->context.report(name, value, call.fold(fold));
    if (shown != nullptr) *shown = is_shown;
  });
}
popdist_error_t* popdist_abort(popdist_context_t* context, int exit_code, const char* message) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(context, "context");
    call.notNull(message, "message");
    context->context.abort(exit_code, message);
  });
}

popdist_error_t* popdist_allocate_shared(popdist_context_t* context, std::size_t bytes, void** memory) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(context, "context");
    call.notNull(memory, "memory");
    *memory = popdist::allocateShared(context->context, bytes);
  });
}
void popdist_free_shared(popdist_context_t* context, void* memory) {
  popdist::freeShared(context->context, memory);
}

popdist_communicator_t* popdist_world(popdist_context_t* context) {
  return &context->world;
}
popdist_error_t* popdist_communicator_create(popdist_context_t* context, const unsigned* participants,
                                             std::size_t count, popdist_communicator_t** communicator) {
  return errorOf(__func__, [&](const Call& call) {
    call.notNull(context, "context");
    call.notNull(communicator, "communicator");
    if (count > 0) call.notNull(participants, "participants");
    auto handle = std::make_unique<popdist_communicator_t>();
    handle->owned =
        context->context.createCommunicator(std::set<unsigned>(participants, participants + count));
    handle->communicator = handle->owned.get();
    *communicator = handle->owned ? handle.release() : nullptr;
  });
}
void popdist_communicator_free(popdist_communicator_t* communicator) {
  if (communicator != nullptr && communicator->owned != nullptr) delete communicator;
}
