// SPDX-License-Identifier: Apache-2.0
// The input of a file format: a file, or bytes in memory for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/base/status.h"

namespace popdist::io {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Its name in messages: the file's path.
  virtual const std::string& name() const = 0;

  /// Fills `into`; returns fewer bytes than that only at the end.
  virtual pop::Result<std::size_t> read(std::span<std::uint8_t> into) = 0;

  /// After read() has met the end: whether the bytes were complete, for encodings that can tell.
  virtual pop::Status endStatus() const { return {}; }
};

}  // namespace popdist::io
