// SPDX-License-Identifier: Apache-2.0
// Elements of IDX files.
#pragma once

#include <memory>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

pop::Result<std::unique_ptr<const Node>> idxOf(const std::vector<IdxFile>& files);

}  // namespace popdist::io
