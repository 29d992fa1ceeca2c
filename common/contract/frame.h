// SPDX-License-Identifier: Apache-2.0
// Frames on a byte stream: a type and some byte-string fields. Used by the instance link and the keeper's
// link.
//
//   u32 body bytes | u8 type | u32 number of fields | per field: u32 bytes, the bytes
//   (all numbers little-endian)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop::contract {

struct Frame {
  std::uint8_t type = 0;
  std::vector<std::string> fields;

  friend bool operator==(const Frame&, const Frame&) = default;
};

/// The maximum size of a frame's body; sender and receiver both refuse larger ones.
inline constexpr std::size_t kMaxFrameBytes = 64 << 20;

/// The size of the body of `frame`.
std::size_t bodyBytes(const Frame& frame);

/// Encodes `frame`. kResourceExhausted: it exceeds kMaxFrameBytes.
Result<std::string> encode(const Frame& frame);

/// Field `index` as a whole number from 0 to INT32_MAX, or kDataLoss.
Result<int> numberField(const Frame& frame, std::size_t index);

/// Splits a stream into frames. After an error the stream is out of step and must be closed.
class FrameReader {
 public:
  /// Bodies may have up to `most_bytes`; of a longer one, only the bytes that have arrived are kept.
  explicit FrameReader(std::size_t most_bytes = kMaxFrameBytes) : most_bytes_(most_bytes) {}
  void setMostBytes(std::size_t most_bytes) { most_bytes_ = most_bytes; }

  void append(std::string_view bytes);

  /// Returns the next complete frame, nothing if more bytes are needed, or kDataLoss for malformed bytes.
  Result<std::optional<Frame>> next();

  /// After next() has returned nothing: how many bytes more surely belong to the next frame.
  std::size_t missingBytes() const;

 private:
  std::size_t most_bytes_;
  std::string buffer_;
  std::size_t consumed_ = 0;
};

}  // namespace pop::contract
