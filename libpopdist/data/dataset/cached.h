// SPDX-License-Identifier: Apache-2.0
// Steps that read the one below them once: in memory, or in a file.
#pragma once

#include <filesystem>
#include <memory>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

pop::Result<std::unique_ptr<const Node>> cachedInMemory(std::unique_ptr<const Node> below);

/// In `directory`/cache.records, or with Node::part in its name; see Dataset::cache.
pop::Result<std::unique_ptr<const Node>> cachedInFile(std::unique_ptr<const Node> below,
                                                      std::filesystem::path directory);

}  // namespace popdist::io
