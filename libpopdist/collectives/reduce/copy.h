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

/// As copyCached(), and writes to `from` what is there, for the sake of whose lines they are then (ADR 0028).
void copyWritingBack(void* to, void* from, std::size_t bytes);

/// The same past the caches: half as much again as copyCached() where the ranges exceed the last cache;
/// elsewhere half as fast, and the reader has to fetch the data from memory. A thread that sees a later store
/// of this one sees the data, too.
void copyStreaming(void* to, const void* from, std::size_t bytes);

}  // namespace popdist::reduce
