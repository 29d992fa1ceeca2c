// SPDX-License-Identifier: Apache-2.0
#include "popdist/communicator.hpp"

#include <algorithm>
#include <numeric>

#include "libpopdist/collectives/api/call_arguments.h"
#include "libpopdist/collectives/api/call_checks.h"
#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/error.hpp"

namespace popdist {

using group::CollectiveCall;
using plan::Operation;

// ---- Communicator::Impl

void Communicator::Impl::run(CollectiveCall call, const CallOptions& options) {
  call.tensor = options.tensor;
  call.stop = &options.stop;
  if (!isPlain(call)) check(call);
  if (call.ragged) placeInput(call);
  call.timeout = options.timeout ? checkedTimeout(call, *options.timeout) : group_->timeout();
  group_->run(call);
}

void Communicator::Impl::check(const CollectiveCall& call) const {
  if (const std::string why = api::whatIsWrongWith(call, rank(), size()); !why.empty()) refuse(call, why);
}

std::chrono::milliseconds Communicator::Impl::checkedTimeout(const CollectiveCall& call,
                                                             std::chrono::milliseconds timeout) const {
  if (timeout.count() < 1) refuse(call, "the timeout must be at least a millisecond");
  return std::min(timeout, context::kLongestTimeout);
}

// Recognises ordinary calls cheaply, since a small call takes less than a tenth of a microsecond.
bool Communicator::Impl::isPlain(const CollectiveCall& call) const {
  constexpr std::size_t kPlainCount = std::size_t{1} << 32;
  if (call.operation == Operation::kBarrier) return true;
  return call.operation != Operation::kSendRecv && call.count < kPlainCount && call.input != nullptr &&
         call.output != nullptr && static_cast<unsigned>(call.root) < static_cast<unsigned>(size()) &&
         !call.ragged && supports(plan::reduces(call.operation) ? call.op : Operator::kMin, call.type);
}

// For an all-gather whose block is in place.
void Communicator::Impl::placeInput(CollectiveCall& call) const {
  if (call.operation != Operation::kAllGather || call.input != nullptr || call.output == nullptr) return;
  const std::size_t before =
      std::accumulate(call.counts.begin(), call.counts.begin() + rank(), std::size_t{0});
  call.input = static_cast<std::byte*>(call.output) + before * sizeOf(call.type);
}

// Uses nothing of the call that may be invalid.
void Communicator::Impl::refuse(const CollectiveCall& call, const std::string& why) const {
  const std::string name = nameOf(call.operation);
  const std::string tensor = call.tensor.empty() ? "" : " '" + std::string(call.tensor) + '\'';
  group_->fail({name, name + tensor}, pop::invalidArgument(why), -1);
}

void Communicator::Impl::abort(const pop::Status& why, int instance) {
  const bool own = instance == group_->members().instanceOf(rank());
  group_->abandon({.status = why, .peer_instance = own ? -1 : instance, .heard = !own});
}

// ---- Communicator

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

int Communicator::rank() const {
  return impl_->rank();
}
int Communicator::size() const {
  return impl_->size();
}

void Communicator::allReduce(const void* in, void* out, std::size_t count, Type type, Operator op,
                             const CallOptions& options) {
  impl_->run(api::allReduce(in, out, count, type, op), options);
}

void Communicator::reduceScatter(const void* in, void* out, std::size_t count, Type type, Operator op,
                                 const CallOptions& options) {
  impl_->run(api::reduceScatter(in, out, count, type, op), options);
}

void Communicator::reduce(const void* in, void* out, std::size_t count, Type type, Operator op, int root,
                          const CallOptions& options) {
  impl_->run(api::reduce(in, out, count, type, op, root), options);
}

void Communicator::allGather(const void* in, void* out, std::size_t count, Type type,
                             const CallOptions& options) {
  impl_->run(api::allGather(rank(), in, out, count, type), options);
}

void Communicator::allGather(const void* in, void* out, std::span<const std::size_t> counts, Type type,
                             const CallOptions& options) {
  impl_->run(api::allGather(in, out, counts, type), options);
}

void Communicator::broadcast(void* data, std::size_t count, Type type, int root, const CallOptions& options) {
  impl_->run(api::broadcast(data, count, type, root), options);
}

void Communicator::gather(const void* in, void* out, std::size_t count, Type type, int root,
                          const CallOptions& options) {
  impl_->run(api::gather(rank(), in, out, count, type, root), options);
}

void Communicator::scatter(const void* in, void* out, std::size_t count, Type type, int root,
                           const CallOptions& options) {
  impl_->run(api::scatter(in, out, count, type, root), options);
}

void Communicator::allToAll(const void* in, void* out, std::size_t count, Type type,
                            const CallOptions& options) {
  impl_->run(api::allToAll(in, out, count, type), options);
}

void Communicator::allToAll(const void* in, std::span<const std::size_t> send_counts, void* out,
                            std::span<const std::size_t> recv_counts, Type type, const CallOptions& options) {
  impl_->run(api::allToAll(in, send_counts, out, recv_counts, type), options);
}

void Communicator::sendRecv(const void* in, std::size_t send_count, int to, void* out, std::size_t recv_count,
                            int from, Type type, const CallOptions& options) {
  impl_->run(api::sendRecv(in, send_count, to, out, recv_count, from, type), options);
}

void Communicator::barrier(const CallOptions& options) {
  impl_->run(api::barrier(), options);
}

void Communicator::expectCounts(const char* call, std::size_t is, std::size_t expected) const {
  if (is == expected) return;
  throw popdist_error(ErrorCode::kInvalidArgument, call,
                      "one of its buffers has " + std::to_string(is) + " elements, expected " +
                          std::to_string(expected) + " for " + std::to_string(size()) + " members",
                      {.rank = rank(), .operation = call});
}

void Communicator::expectBlocks(const char* call, std::size_t count) const {
  if (count % members() == 0) return;
  throw popdist_error(
      ErrorCode::kInvalidArgument, call,
      std::to_string(count) + " elements are no equal blocks for " + std::to_string(size()) + " members",
      {.rank = rank(), .operation = call});
}

}  // namespace popdist
