// SPDX-License-Identifier: Apache-2.0
// Copying of message-sized ranges. glibc's memcpy is not used for them: from 4 KiB on it may take `rep
// movsb`, which some CPUs run at 3 GB/s instead of 50 where the two addresses differ in their last bits; and
// it stays in the caches however much it copies.
#pragma once

#include <cstddef>

namespace popdist::reduce {

/// Copies `bytes` that do not overlap, from and to any address. For what is read again soon, or fits into the
/// caches.
void copyCached(void* to, const void* from, std::size_t bytes);

/// The same past the caches: faster by half than copyCached() where source and destination exceed the last
/// cache, half as fast where they do not. Other threads see the data when they see what this one stores
/// afterwards.
void copyStreaming(void* to, const void* from, std::size_t bytes);

}  // namespace popdist::reduce
