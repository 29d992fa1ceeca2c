// SPDX-License-Identifier: Apache-2.0
// The steps at the start of a pipeline that read elements from files. Each is in a file of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"

namespace popdist::io {

/// Elements of a file of comma-separated values: one for each row.
pop::Result<std::unique_ptr<const Node>> csvOf(const std::string& path, const CsvOptions& options);

/// Elements of IDX files.
pop::Result<std::unique_ptr<const Node>> idxOf(const std::vector<IdxFile>& files);

/// Elements of NumPy's .npy files.
pop::Result<std::unique_ptr<const Node>> npyOf(const std::vector<NpyFile>& files);

/// Elements of tar archives. Without `decode` each tensor is the content of the file whose extension is its
/// name.
pop::Result<std::unique_ptr<const Node>> tarOf(const std::vector<std::filesystem::path>& archives,
                                               Spec element, TarFunction decode);

/// Elements of TFRecord files. Without `decode` a record is the bytes of the element's tensors, one after the
/// other.
pop::Result<std::unique_ptr<const Node>> tfRecordsOf(const std::vector<std::filesystem::path>& files,
                                                     Spec element, RecordFunction decode);

/// Elements of TFRecord files whose records are tf.train.Example messages.
pop::Result<std::unique_ptr<const Node>> tfExamplesOf(const std::vector<std::filesystem::path>& files,
                                                      Spec features);

}  // namespace popdist::io
