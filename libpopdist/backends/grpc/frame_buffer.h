// SPDX-License-Identifier: Apache-2.0
// Frames as gRPC's byte buffers: the head, then the payload. And what both sides of a stream know.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstring>
#include <optional>

#include "libpopdist/backends/messages/fabric.h"

namespace popdist::backends {

inline constexpr const char* kMethod = "/popdist.Backend/Frames";
inline constexpr const char* kSecretName = "popdist-secret";
inline constexpr const char* kRankName = "popdist-rank";

/// Key of a frame that is no part of a call but a note.
inline constexpr std::uint64_t kNoteKey = ~std::uint64_t{0};

/// What a receiver answers now and then on the stream that frames come on: counts from its beginning.
struct Receipt {
  std::uint64_t arrived = 0;  ///< frames that are in the receiver's memory
  std::uint64_t taken = 0;    ///< frames that its calls have used, so that more may be sent
};

inline grpc::ByteBuffer bufferOf(const Frame& frame) {
  const grpc::Slice slices[] = {grpc::Slice(&frame.head, sizeof(frame.head)),
                                grpc::Slice(frame.payload.data(), frame.payload.size())};
  return {slices, frame.payload.empty() ? std::size_t{1} : std::size_t{2}};
}

inline grpc::ByteBuffer bufferOf(const Receipt& receipt) {
  const grpc::Slice slice(&receipt, sizeof(receipt));
  return {&slice, 1};
}

/// The buffer's bytes in one piece; nothing if they are fewer than `least` or cannot be had.
inline std::optional<grpc::Slice> sliceOf(const grpc::ByteBuffer& buffer, std::size_t least) {
  grpc::Slice slice;
  if (!buffer.TrySingleSlice(&slice).ok() && !buffer.DumpToSingleSlice(&slice).ok()) return std::nullopt;
  if (slice.size() < least) return std::nullopt;
  return slice;
}

/// A frame that lies in `slice`, which has a head at least.
inline Frame frameIn(const grpc::Slice& slice) {
  Frame frame;
  std::memcpy(&frame.head, slice.begin(), sizeof(frame.head));
  frame.payload = {reinterpret_cast<const std::byte*>(slice.begin()) + sizeof(frame.head),
                   slice.size() - sizeof(frame.head)};
  return frame;
}

}  // namespace popdist::backends
