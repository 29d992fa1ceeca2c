// SPDX-License-Identifier: Apache-2.0
#include "popdist/communicator.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "libpopdist/src/context/context_impl.h"
#include "libpopdist/src/context/message_calls.h"
#include "popdist/error.hpp"

namespace popdist {

using context::CollectiveCall;
using plan::Operation;

// ---- Communicator::Impl

void Communicator::Impl::run(CollectiveCall call, const CallOptions& options) {
  if (!isPlain(call)) check(call);
  if (call.ragged) placeInput(call);
  call.tensor = options.tensor;
  call.timeout = options.timeout ? checkedTimeout(call, *options.timeout) : group_->timeout();
  if (group_->isShared()) return group_->runShared(call);
  if (group_->isOnBackend()) return group_->runOnBackend(call);
  context::MessageCalls(*group_).run(call);
}

// What nearly all calls are: told apart at little cost, since a small call takes less than a tenth of a
// microsecond.
bool Communicator::Impl::isPlain(const CollectiveCall& call) const {
  constexpr std::size_t kPlainCount = std::size_t{1} << 32;
  if (call.operation == Operation::kBarrier) return true;
  return call.operation != Operation::kSendRecv && call.count < kPlainCount && call.input != nullptr &&
         call.output != nullptr && static_cast<unsigned>(call.root) < static_cast<unsigned>(size()) &&
         !call.ragged && supports(plan::reduces(call.operation) ? call.op : Operator::kMin, call.type);
}

void Communicator::Impl::check(const CollectiveCall& call) const {
  const char* const name = nameOf(call.operation);
  const std::size_t element = sizeOf(call.type);
  if (element == 0) refuse(name, "no such element type");
  if (plan::reduces(call.operation) && !supports(call.op, call.type))
    refuse(name, std::string("there is no ") + nameOf(call.op) + " of " + nameOf(call.type));
  if (call.root < 0 || call.root >= size())
    refuse(name, "root " + std::to_string(call.root) + " is not a rank; there are " + std::to_string(size()));
  if (call.count > context::mostElements(call.type) / static_cast<std::size_t>(size())) {
    refuse(name, std::to_string(call.count) + " elements for each of " + std::to_string(size()) +
                     " ranks exceed any memory");
  }
  if (call.operation == Operation::kSendRecv) return checkPartners(call);
  if (call.ragged) checkCounts(name, call.counts, call.type);
  if (call.ragged && call.operation == Operation::kAllToAll) checkCounts(name, call.recv_counts, call.type);
  checkBuffers(call);
}

void Communicator::Impl::checkBuffers(const CollectiveCall& call) const {
  if (call.ragged) return checkRaggedBuffers(call);
  if (call.count == 0 || call.operation == Operation::kBarrier) return;
  const bool is_root = rank() == call.root;
  const bool gives = call.operation != Operation::kScatter || is_root;
  const bool takes =
      (call.operation != Operation::kReduce && call.operation != Operation::kGather) || is_root;
  if ((gives && call.input == nullptr) || (takes && call.output == nullptr))
    refuse(nameOf(call.operation), "a buffer is a null pointer");
}

void Communicator::Impl::checkRaggedBuffers(const CollectiveCall& call) const {
  const auto any = [](std::span<const std::size_t> counts) {
    return std::any_of(counts.begin(), counts.end(), [](std::size_t count) { return count > 0; });
  };
  const bool gathers = call.operation == Operation::kAllGather;
  const bool gives = !gathers && any(call.counts);  // a gather may find its block in the output
  const bool takes = any(gathers ? call.counts : call.recv_counts);
  if ((gives && call.input == nullptr) || (takes && call.output == nullptr))
    refuse(nameOf(call.operation), "a buffer is a null pointer");
}

void Communicator::Impl::checkPartners(const CollectiveCall& call) const {
  const char* const name = nameOf(call.operation);
  const plan::Partners& partners = call.partners;
  for (const int rank : {partners.to, partners.from}) {
    if (rank < kNobody || rank >= size()) {
      refuse(name, std::to_string(rank) + " is neither a rank nor kNobody; there are " +
                       std::to_string(size()) + " ranks");
    }
  }
  if (std::max(partners.send_count, partners.recv_count) > context::mostElements(call.type))
    refuse(name, "the counts exceed any memory");
  const std::size_t sent_bytes = partners.send_count * sizeOf(call.type);
  const std::size_t received_bytes = partners.recv_count * sizeOf(call.type);
  if ((sent_bytes > 0 && call.input == nullptr) || (received_bytes > 0 && call.output == nullptr))
    refuse(name, "a buffer is a null pointer");
  const auto in = reinterpret_cast<std::uintptr_t>(call.input);
  const auto out = reinterpret_cast<std::uintptr_t>(call.output);
  if (sent_bytes > 0 && received_bytes > 0 && in < out + received_bytes && out < in + sent_bytes)
    refuse(name, "the buffers overlap");
}

// Of an all-gather whose block is in place.
void Communicator::Impl::placeInput(CollectiveCall& call) const {
  if (call.operation != Operation::kAllGather || call.input != nullptr || call.output == nullptr) return;
  const std::size_t before =
      std::accumulate(call.counts.begin(), call.counts.begin() + rank(), std::size_t{0});
  call.input = static_cast<std::byte*>(call.output) + before * sizeOf(call.type);
}

void Communicator::Impl::checkCounts(const char* name, std::span<const std::size_t> counts, Type type) const {
  if (counts.size() != static_cast<std::size_t>(size())) {
    refuse(name,
           "there are " + std::to_string(counts.size()) + " counts for " + std::to_string(size()) + " ranks");
  }
  std::size_t room = context::mostElements(type);
  for (const std::size_t count : counts) {
    if (count > room) refuse(name, "the counts exceed any memory together");
    room -= count;
  }
}

std::chrono::milliseconds Communicator::Impl::checkedTimeout(const CollectiveCall& call,
                                                             std::chrono::milliseconds timeout) const {
  if (timeout.count() < 1) refuse(nameOf(call.operation), "the timeout must be at least a millisecond");
  return std::min(timeout, context::kLongestTimeout);
}

void Communicator::Impl::refuse(const char* name, const std::string& why) const {
  throw popdist_error(ErrorCode::kInvalidArgument, std::string(name) + ": " + why,
                      {.rank = rank(), .peer = -1, .operation = name});
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
  impl_->run({.operation = Operation::kAllReduce,
              .input = in,
              .output = out,
              .count = count,
              .type = type,
              .op = op},
             options);
}

void Communicator::reduceScatter(const void* in, void* out, std::size_t count, Type type, Operator op,
                                 const CallOptions& options) {
  impl_->run({.operation = Operation::kReduceScatter,
              .input = in,
              .output = out,
              .count = count,
              .type = type,
              .op = op},
             options);
}

void Communicator::reduce(const void* in, void* out, std::size_t count, Type type, Operator op, int root,
                          const CallOptions& options) {
  impl_->run({.operation = Operation::kReduce,
              .input = in,
              .output = out,
              .count = count,
              .type = type,
              .op = op,
              .root = root},
             options);
}

void Communicator::allGather(const void* in, void* out, std::size_t count, Type type,
                             const CallOptions& options) {
  const std::size_t own_block_bytes = static_cast<std::size_t>(rank()) * count * sizeOf(type);
  const void* own_block = out == nullptr ? nullptr : static_cast<std::byte*>(out) + own_block_bytes;
  impl_->run({.operation = Operation::kAllGather,
              .input = in == nullptr ? own_block : in,
              .output = out,
              .count = count,
              .type = type},
             options);
}

void Communicator::allGather(const void* in, void* out, std::span<const std::size_t> counts, Type type,
                             const CallOptions& options) {
  impl_->run({.operation = Operation::kAllGather,
              .input = in,
              .output = out,
              .type = type,
              .ragged = true,
              .counts = counts},
             options);
}

void Communicator::broadcast(void* data, std::size_t count, Type type, int root, const CallOptions& options) {
  impl_->run({.operation = Operation::kBroadcast,
              .input = data,
              .output = data,
              .count = count,
              .type = type,
              .root = root},
             options);
}

void Communicator::gather(const void* in, void* out, std::size_t count, Type type, int root,
                          const CallOptions& options) {
  impl_->run({.operation = Operation::kGather,
              .input = in,
              .output = out,
              .count = count,
              .type = type,
              .root = root},
             options);
}

void Communicator::scatter(const void* in, void* out, std::size_t count, Type type, int root,
                           const CallOptions& options) {
  impl_->run({.operation = Operation::kScatter,
              .input = in,
              .output = out,
              .count = count,
              .type = type,
              .root = root},
             options);
}

void Communicator::allToAll(const void* in, void* out, std::size_t count, Type type,
                            const CallOptions& options) {
  impl_->run({.operation = Operation::kAllToAll, .input = in, .output = out, .count = count, .type = type},
             options);
}

void Communicator::allToAll(const void* in, std::span<const std::size_t> send_counts, void* out,
                            std::span<const std::size_t> recv_counts, Type type, const CallOptions& options) {
  impl_->run({.operation = Operation::kAllToAll,
              .input = in,
              .output = out,
              .type = type,
              .ragged = true,
              .counts = send_counts,
              .recv_counts = recv_counts},
             options);
}

void Communicator::sendRecv(const void* in, std::size_t send_count, int to, void* out, std::size_t recv_count,
                            int from, Type type, const CallOptions& options) {
  impl_->run({.operation = Operation::kSendRecv,
              .input = in,
              .output = out,
              .type = type,
              .partners = {.to = to,
                           .from = from,
                           .send_count = to == kNobody ? 0 : send_count,
                           .recv_count = from == kNobody ? 0 : recv_count}},
             options);
}

void Communicator::barrier(const CallOptions& options) {
  impl_->run({.operation = Operation::kBarrier}, options);
}

}  // namespace popdist
