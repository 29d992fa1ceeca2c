// SPDX-License-Identifier: Apache-2.0
// Elements of tar archives.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

/// Without `decode` each tensor is the content of the file whose extension is its name.
pop::Result<std::unique_ptr<const Node>> tarOf(const std::vector<std::filesystem::path>& archives,
                                               Spec element, TarFunction decode);

}  // namespace popdist::io
