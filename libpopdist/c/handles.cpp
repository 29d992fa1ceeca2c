// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/c/handles.h"

namespace popdist::c {
namespace {

// True if a struct of the caller's version has the field.
template <typename Options, typename Field>
bool has(const Options& options, const Field& field) {
  const auto end = reinterpret_cast<const char*>(&field + 1) - reinterpret_cast<const char*>(&options);
  return options.bytes >= static_cast<std::size_t>(end);
}

// Made when the library is loaded, since there may be no memory for it later, and never freed.
popdist_error_t& out_of_memory =
    *new popdist_error_t{{ErrorCode::kResourceExhausted, "libpopdist: this process is out of memory"}};

popdist_error_t* errorOfException() {
  try {
    throw;
  } catch (const popdist_error& error) {
    return new popdist_error_t{error};
  } catch (const std::bad_alloc&) {
    return &out_of_memory;
  } catch (const std::exception& error) {
    return new popdist_error_t{{ErrorCode::kInternal, error.what()}};
  } catch (...) {
    return new popdist_error_t{{ErrorCode::kUnknown, "libpopdist: an unknown exception"}};
  }
}

}  // namespace

popdist_error_t* caughtError() noexcept {
  try {
    return errorOfException();
  } catch (const std::exception&) {
    return &out_of_memory;
  }
}

void Call::refuse(const std::string& cause) const {
  throw popdist_error(ErrorCode::kInvalidArgument, function_, cause, {.operation = function_});
}

void Call::refuseWorld(const popdist_communicator_t& handle) const {
  if (handle.owned == nullptr)
    refuse("popdist_world() belongs to the context: make a communicator with popdist_communicator_create");
}

void Call::notNull(const void* argument, const char* name) const {
  if (argument == nullptr) refuse(std::string("`") + name + "` is NULL");
}

Type Call::type(popdist_type_t type) const {
  static_assert(static_cast<int>(Type::kDouble) == POPDIST_DOUBLE);
  if (popdist_type_bytes(type) == 0) refuse("there is no type " + std::to_string(static_cast<int>(type)));
  return static_cast<Type>(type);
}

Operator Call::op(popdist_operator_t op) const {
  static_assert(static_cast<int>(Operator::kLocal) == POPDIST_LOCAL);
  const int number = static_cast<int>(op);
  if (number < POPDIST_SUM || number > POPDIST_LOCAL)
    refuse("there is no operator " + std::to_string(number));
  return static_cast<Operator>(op);
}

Fold Call::fold(popdist_fold_t fold) const {
  static_assert(static_cast<int>(Fold::kMax) == POPDIST_FOLD_MAX);
  const int number = static_cast<int>(fold);
  if (number < POPDIST_FOLD_SUM || number > POPDIST_FOLD_MAX)
    refuse("there is no fold " + std::to_string(number));
  return static_cast<Fold>(fold);
}

CallOptions Call::options(const popdist_call_options_t* options) const {
  CallOptions call;
  if (options == nullptr) return call;
  checkBytes(options->bytes, "popdist_call_options_t");
  if (has(*options, options->tensor) && options->tensor != nullptr) call.tensor = options->tensor;
  if (has(*options, options->timeout_ms)) call.timeout = timeoutOf(options->timeout_ms);
  return call;
}

PodCallOptions Call::options(const popdist_pod_options_t* options) const {
  PodCallOptions call;
  if (options == nullptr) return call;
  checkBytes(options->bytes, "popdist_pod_options_t");
  if (has(*options, options->group_size)) call.group.size = options->group_size;
  if (has(*options, options->group_stride) && options->group_stride != 0)
    call.group.stride = options->group_stride;
  if (has(*options, options->method) && options->method != nullptr) call.method = options->method;
  if (has(*options, options->within_replica) && options->within_replica)
    call.scope = PodScope::kWithinReplica;
  return call;
}

void Call::checkBytes(std::size_t bytes, const char* type) const {
  if (bytes > sizeof(std::size_t)) return;
  refuse("the field `bytes` is " + std::to_string(bytes) + ": set it to sizeof(" + type + ")");
}

std::optional<std::chrono::milliseconds> timeoutOf(std::int64_t timeout_ms) {
  if (timeout_ms == 0) return std::nullopt;
  return std::chrono::milliseconds(timeout_ms);
}

}  // namespace popdist::c

popdist_code_t popdist_error_code(const popdist_error_t* error) {
  return static_cast<popdist_code_t>(error->error.code());
}
const char* popdist_error_message(const popdist_error_t* error) {
  return error->error.what();
}
const char* popdist_error_operation(const popdist_error_t* error) {
  return error->error.operation().c_str();
}
int popdist_error_rank(const popdist_error_t* error) {
  return error->error.rank();
}
int popdist_error_peer(const popdist_error_t* error) {
  return error->error.peer();
}
void popdist_error_free(popdist_error_t* error) {
  if (error != &popdist::c::out_of_memory) delete error;
}
