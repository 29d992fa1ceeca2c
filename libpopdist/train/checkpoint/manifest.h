// SPDX-License-Identifier: Apache-2.0
// manifest.json: what a checkpoint consists of. It is written last, so its directory is complete. Every file
// has a checksum for each block of it, so that a reader of a part of a file checks all that it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_reader.h"
#include "common/base/status.h"
#include "libpopdist/train/checkpoint/part.h"
#include "popdist/checkpoint.hpp"

namespace popdist::train {

inline constexpr const char* kManifestName = "manifest.json";
inline constexpr std::size_t kBlockBytes = std::size_t{1} << 20U;

struct StoredFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> block_crcs;  ///< CRC-32C of each kBlockBytes; the last block may be shorter
  std::vector<Part> parts;

  friend bool operator==(const StoredFile&, const StoredFile&) = default;
};

struct Manifest {
  Position position;
  std::vector<StoredFile> files;

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// "shard-00000-of-00004.safetensors"
std::string shardName(int instance, int instances);

std::string textOf(const Manifest& manifest);
/// kDataLoss: its own checksum is wrong, or something in it cannot be; kUnimplemented: of a later version.
pop::Result<Manifest> parseManifest(std::string_view text);

/// Tensors of all files of a manifest; as wholeTensors().
pop::Result<Spec> tensorsOf(const Manifest& manifest);

std::string jsonOf(const Position& position);
pop::Result<Position> positionFrom(const pop::JsonValue& json);
std::string jsonOf(const StoredFile& file);
pop::Result<StoredFile> storedFileFrom(const pop::JsonValue& json);

}  // namespace popdist::train
