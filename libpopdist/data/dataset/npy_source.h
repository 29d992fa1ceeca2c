// SPDX-License-Identifier: Apache-2.0
// Elements of NumPy's .npy files.
#pragma once

#include <memory>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

pop::Result<std::unique_ptr<const Node>> npyOf(const std::vector<NpyFile>& files);

}  // namespace popdist::io
