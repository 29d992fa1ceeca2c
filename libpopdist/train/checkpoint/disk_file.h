// SPDX-License-Identifier: Apache-2.0
// Files of a checkpoint, written past the page cache: otherwise the kernel's own threads would copy and write
// on cores that the training needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace popdist::train {

/// A directory that stays the same, whatever becomes of its name.
struct Directory {
  pop::sys::Fd fd;
  std::string path;  ///< for messages

  std::string pathOf(const std::string& name) const { return path + '/' + name; }
};

pop::Result<Directory> openDirectory(const std::string& path);

/// "cannot <verb> '<path>': <cause>", with what to do where the disk is full.
pop::Status cannot(const std::string& verb, const std::string& path, int error_number);

struct FileToRead {
  pop::sys::Fd fd;
  std::uint64_t bytes = 0;
};

/// kDataLoss: there is none of that name, or it is no regular file. Does not wait for the writer of a pipe.
pop::Result<FileToRead> openToRead(const Directory& directory, const std::string& name);

/// Writes `bytes` to the new file `name` and returns when they are on the disk: the CRC-32C of each
/// kBlockBytes of them. `bytes` begin at a page, and memory goes on to the end of their last one, as in a
/// Snapshot. Where the file system refuses to write past the page cache, through it.
pop::Result<std::vector<std::uint32_t>> writePages(const Directory& directory, const std::string& name,
                                                   std::span<const std::byte> bytes);

/// A short file, of any bytes, on the disk when it returns.
pop::Status writeText(const Directory& directory, const std::string& name, std::string_view text);

/// Names in the directory stay after this, whatever happens.
pop::Status syncDirectory(const Directory& directory);

}  // namespace popdist::train
