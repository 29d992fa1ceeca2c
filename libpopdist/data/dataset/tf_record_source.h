// SPDX-License-Identifier: Apache-2.0
// Elements of TFRecord files.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

/// Without `decode` a record is the bytes of the element's tensors, one after the other.
pop::Result<std::unique_ptr<const Node>> tfRecordsOf(const std::vector<std::filesystem::path>& files,
                                                     Spec element, RecordFunction decode);

/// Records are tf.train.Example messages.
pop::Result<std::unique_ptr<const Node>> tfExamplesOf(const std::vector<std::filesystem::path>& files,
                                                      Spec features);

}  // namespace popdist::io
