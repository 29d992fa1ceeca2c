// SPDX-License-Identifier: Apache-2.0
// Fences of popdist_child with much data. Exit codes; other errors are thrown.
#pragma once

#include <cstddef>
#include <string>

namespace popdist::testing {

int retryFence(const std::string& fifo);
int fenceOf(std::size_t mib);

}  // namespace popdist::testing
