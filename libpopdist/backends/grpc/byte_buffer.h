// SPDX-License-Identifier: Apache-2.0
// Contents of the streams between two members: bytes one way, receipts the other.
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

/// The limits of one gRPC message, and of the bytes sent to a member but not yet taken by it.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxBytesAhead = std::size_t{2} << 20;

/// A receipt: the receiver sends it now and then on the stream that bytes come on. Counts start with the
/// stream.
struct Receipt {
  std::uint64_t arrived = 0;  ///< bytes that have reached the receiver's memory
  std::uint64_t taken = 0;    ///< bytes that the receiver's calls have used, so that more may be sent
};

/// A buffer with a copy of both, one after the other.
inline grpc::ByteBuffer bufferOf(std::span<const std::byte> first, std::span<const std::byte> second = {}) {
  const grpc::Slice slices[] = {grpc::Slice(first.data(), first.size()),
                                grpc::Slice(second.data(), second.size())};
  return {slices, second.empty() ? std::size_t{1} : std::size_t{2}};
}

/// The receipt in a buffer; nullopt if it holds something else.
inline std::optional<Receipt> receiptIn(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok() || slice.size() != sizeof(Receipt)) return std::nullopt;
  Receipt receipt;
  std::memcpy(&receipt, slice.begin(), sizeof(receipt));
  return receipt;
}

}  // namespace popdist::backends
