// SPDX-License-Identifier: Apache-2.0
// Elements of a file of records.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"
#include "libpopdist/data/formats/records.h"

namespace popdist::io {

/// Writes all elements of a pass to the file `path`, whose header says that they are of `origin`. kCancelled:
/// the pass was.
pop::Status copyToRecords(const Node& node, const Pass& pass, const std::string& path,
                          const std::string& origin = {});

pop::Result<std::unique_ptr<const Node>> recordsOf(const std::string& path);

}  // namespace popdist::io
