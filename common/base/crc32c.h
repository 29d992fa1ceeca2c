// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), the checksum of iSCSI, ext4 and TFRecord files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pop {

/// The checksum of `bytes` that follow others whose checksum is `before`. The CPU's instruction where it has
/// one (8 GB/s and more), else tables.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// The same of the bytes that it copies to `to`, which overlaps none of them. Each is read once, so that what
/// another process writes meanwhile is not in one without the other. Costs about
/// 1.2 times the copy out of memory.
std::uint32_t copyWithCrc32c(std::byte* to, std::span<const std::byte> bytes, std::uint32_t before = 0);

/// By tables, on any CPU: for tests.
std::uint32_t crc32cByTables(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace pop
