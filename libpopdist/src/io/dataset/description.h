// SPDX-License-Identifier: Apache-2.0
// Words that tell one pipeline from another; see Node::description.
#pragma once

#include <string>
#include <vector>

#include "popdist/tensor.hpp"

namespace popdist::io {

/// "'/data/a.tar' of 1234 bytes, …": absolute paths and sizes. Of long lists the first and a checksum.
std::string describeFiles(const std::vector<std::string>& paths);

/// Of long texts the beginning and a checksum.
std::string shortened(const std::string& text);

/// Types, shapes and names, and a checksum of all values.
std::string describeValues(const Tensors& tensors);

}  // namespace popdist::io
