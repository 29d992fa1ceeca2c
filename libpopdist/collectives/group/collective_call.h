// SPDX-License-Identifier: Apache-2.0
// A collective as its caller asked for it, after the checks. All call paths start from this.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "libpopdist/collectives/messages/exec/call_words.h"
#include "libpopdist/collectives/plan/operation.h"
#include "libpopdist/collectives/plan/send_recv.h"
#include "libpopdist/collectives/shared/pieces.h"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::group {

using exec::CallKey;
using exec::describeCall;

struct CollectiveCall {
  plan::Operation operation = plan::Operation::kBarrier;
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;  ///< elements, as the API counts them; ignored by ragged calls
  Type type = Type::kUint8;
  Operator op = Operator::kSum;
  int root = 0;
  bool ragged = false;  ///< each rank has its own count
  std::span<const std::size_t>
      counts{};  ///< ragged all-gather: count of each rank; all-to-all: count sent to each rank
  std::span<const std::size_t> recv_counts{};  ///< ragged all-to-all: count received from each rank
  plan::Partners partners{};                   ///< kSendRecv: replaces `count`
  const shared::Pieces* pieces = nullptr;      ///< all-reduce on one host: where the vector lies, in place;
                                               ///< input and output are where it begins
  std::string_view tensor{};
  std::chrono::milliseconds timeout{0};
  const std::stop_token* stop = nullptr;    ///< ends its waits; nullptr: nobody asks for that
  const CollectiveCall* part_of = nullptr;  ///< the call of which this is a part; nullptr: none

  const CollectiveCall& whole() const { return part_of == nullptr ? *this : *part_of; }
};

/// A digest that differs where lists differ that should be the same on all ranks.
template <typename Numbers>
std::uint64_t digestOf(const Numbers& numbers) {
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a
  for (const auto number : numbers) digest = (digest ^ static_cast<std::uint64_t>(number)) * 1099511628211U;
  return digest;
}

/// The count that must be the same on all ranks; for ragged calls, a digest of the counts that must be the
/// same.
std::uint64_t agreedCount(const CollectiveCall& call);

/// The other properties that must be the same.
CallKey keyOf(const CollectiveCall& call);

/// The largest number of elements that can be addressed.
inline std::size_t maxElements(Type type) {
  return static_cast<std::size_t>(PTRDIFF_MAX) / sizeOf(type);
}

/// The error text when rank `from` sends `sent` elements to rank `to`, which expects `expected`.
std::string describeCountMismatch(const std::string& from, std::uint64_t sent, const std::string& to,
                                  std::uint64_t expected);

/// Describes a call of a group in errors.
struct CallDescription {
  std::string operation;  ///< popdist_error::operation()
  std::string text;       ///< the operation, what it moves, and the tensor's name
};
/// The description of the whole call that `call` may be a part of.
CallDescription descriptionOf(const CollectiveCall& call);

}  // namespace popdist::group
