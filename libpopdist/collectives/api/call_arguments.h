// SPDX-License-Identifier: Apache-2.0
// Builds the CollectiveCall from the arguments of the API's functions, blocking and asynchronous.
#pragma once

#include "libpopdist/collectives/group/collective_call.h"
#include "popdist/communicator.hpp"

namespace popdist::api {

using group::CollectiveCall;
using plan::Operation;

/// A call of `count` elements, the same on all ranks.
inline CollectiveCall even(Operation operation, const void* in, void* out, std::size_t count, Type type,
                           int root = 0, Operator op = Operator::kSum) {
  return {.operation = operation,
          .input = in,
          .output = out,
          .count = count,
          .type = type,
          .op = op,
          .root = root};
}

inline CollectiveCall allReduce(const void* in, void* out, std::size_t count, Type type, Operator op) {
  return even(Operation::kAllReduce, in, out, count, type, 0, op);
}

/// An all-reduce in place. The pieces outlive the call.
inline CollectiveCall allReduce(const shared::Pieces& pieces, std::size_t count, Type type, Operator op) {
  CollectiveCall call = allReduce(pieces.front(), pieces.front(), count, type, op);
  call.pieces = &pieces;
  return call;
}

inline CollectiveCall reduceScatter(const void* in, void* out, std::size_t count, Type type, Operator op) {
  return even(Operation::kReduceScatter, in, out, count, type, 0, op);
}

inline CollectiveCall reduce(const void* in, void* out, std::size_t count, Type type, Operator op, int root) {
  return even(Operation::kReduce, in, out, count, type, root, op);
}

/// The offset of the elements of `rank` in the gathered vector.
inline const void* blockOf(int rank, const void* gathered, std::size_t count, Type type) {
  const std::size_t before_bytes = static_cast<std::size_t>(rank) * count * sizeOf(type);
  return gathered == nullptr ? nullptr : static_cast<const std::byte*>(gathered) + before_bytes;
}

/// Without `in`, the block of this `rank` is in `out` already.
inline CollectiveCall allGather(int rank, const void* in, void* out, std::size_t count, Type type) {
  return even(Operation::kAllGather, in == nullptr ? blockOf(rank, out, count, type) : in, out, count, type);
}

/// Without `in`, likewise: the thread that carries it out sets it, once the counts are checked.
inline CollectiveCall allGather(const void* in, void* out, std::span<const std::size_t> counts, Type type) {
  return {.operation = Operation::kAllGather,
          .input = in,
          .output = out,
          .type = type,
          .ragged = true,
          .counts = counts};
}

inline CollectiveCall broadcast(void* data, std::size_t count, Type type, int root) {
  return even(Operation::kBroadcast, data, data, count, type, root);
}

/// Without `in`, the root's block is in its `out` already.
inline CollectiveCall gather(int rank, const void* in, void* out, std::size_t count, Type type, int root) {
  const bool in_place = in == nullptr && rank == root;
  return even(Operation::kGather, in_place ? blockOf(rank, out, count, type) : in, out, count, type, root);
}

inline CollectiveCall scatter(const void* in, void* out, std::size_t count, Type type, int root) {
  return even(Operation::kScatter, in, out, count, type, root);
}

inline CollectiveCall allToAll(const void* in, void* out, std::size_t count, Type type) {
  return even(Operation::kAllToAll, in, out, count, type);
}

inline CollectiveCall allToAll(const void* in, std::span<const std::size_t> send_counts, void* out,
                               std::span<const std::size_t> recv_counts, Type type) {
  return {.operation = Operation::kAllToAll,
          .input = in,
          .output = out,
          .type = type,
          .ragged = true,
          .counts = send_counts,
          .recv_counts = recv_counts};
}

inline CollectiveCall sendRecv(const void* in, std::size_t send_count, int to, void* out,
                               std::size_t recv_count, int from, Type type) {
  return {.operation = Operation::kSendRecv,
          .input = in,
          .output = out,
          .type = type,
          .partners = {.to = to,
                       .from = from,
                       .send_count = to == kNobody ? 0 : send_count,
                       .recv_count = from == kNobody ? 0 : recv_count}};
}

inline CollectiveCall barrier() {
  return {.operation = Operation::kBarrier};
}

}  // namespace popdist::api
