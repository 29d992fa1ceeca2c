// SPDX-License-Identifier: Apache-2.0
// What goes over the streams between two members: bytes one way, receipts the other.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace popdist::backends {

inline constexpr const char* kMethod = "/popdist.Backend/Bytes";
inline constexpr const char* kSecretName = "popdist-secret";
inline constexpr const char* kRankName = "popdist-rank";

/// Of gRPC: what one message carries, and what is under way to a member that does not take it.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxBytesAhead = std::size_t{2} << 20;

/// What a receiver answers now and then on the stream that bytes come on: counts from its beginning.
struct Receipt {
  std::uint64_t arrived = 0;  ///< bytes that are in the receiver's memory
  std::uint64_t taken = 0;    ///< bytes that its calls have used, so that more may be sent
};

/// A copy of both, one behind the other.
inline grpc::ByteBuffer bufferOf(std::span<const std::byte> first, std::span<const std::byte> second = {}) {
  const grpc::Slice slices[] = {grpc::Slice(first.data(), first.size()),
                                grpc::Slice(second.data(), second.size())};
  return {slices, second.empty() ? std::size_t{1} : std::size_t{2}};
}

/// Nothing of a buffer that is no receipt.
inline std::optional<Receipt> receiptIn(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok() || slice.size() != sizeof(Receipt)) return std::nullopt;
  Receipt receipt;
  std::memcpy(&receipt, slice.begin(), sizeof(receipt));
  return receipt;
}

}  // namespace popdist::backends
