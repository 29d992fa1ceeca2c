// SPDX-License-Identifier: Apache-2.0
// Words that tell one pipeline from another; see Node::description.
#pragma once

#include <string>
#include <vector>

#include "libpopdist/data/formats/file_state.h"
#include "popdist/tensor.hpp"

namespace popdist::io {

/// "'/data/a.tar' of 1234 bytes (inode 17, changed at 1764270000.123456789), …": absolute paths and what
/// another file, or another state of this one, has not. A long list is cut to the first and a checksum. Waits
/// some milliseconds where a file was changed in the latest ones: a later change has another time then.
std::string describeFiles(const std::vector<FileState>& files);

/// The beginning of a long text and its checksum.
std::string shortened(const std::string& text);

/// Types, shapes and names, and a checksum of all values.
std::string describeValues(const Tensors& tensors);

}  // namespace popdist::io
