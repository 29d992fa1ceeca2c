// SPDX-License-Identifier: Apache-2.0
// Elements of a file of comma-separated values: one for each row.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

pop::Result<std::unique_ptr<const Node>> csvOf(const std::string& path, const CsvOptions& options);

}  // namespace popdist::io
