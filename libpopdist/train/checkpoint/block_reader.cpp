// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/block_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/crc32c.h"
#include "common/base/text.h"
#include "libpopdist/train/checkpoint/disk_file.h"

namespace popdist::train {

BlockReader::BlockReader(const pop::sys::Fd& fd, const StoredFile& file, std::string path)
    : fd_(fd), file_(file), path_(std::move(path)) {}

pop::Status BlockReader::load(std::size_t block) {
  if (loaded_ == block) return {};
  loaded_.reset();
  const std::uint64_t begin = std::uint64_t{block} * kBlockBytes;
  memory_.resize(std::min<std::uint64_t>(kBlockBytes, file_.bytes - begin));
  std::size_t filled = 0;
  while (filled < memory_.size()) {
    const ssize_t got = ::pread(fd_.get(), memory_.data() + filled, memory_.size() - filled,
                                static_cast<off_t>(begin + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", path_, errno);
    if (got == 0) {
      return {pop::Code::kDataLoss, pop::inQuotes(path_) + " ends after " + std::to_string(begin + filled) +
                                        " bytes, the manifest says " + std::to_string(file_.bytes)};
    }
    filled += static_cast<std::size_t>(got);
  }
  const std::uint32_t found = pop::crc32c(memory_);
  if (found != file_.block_crcs[block]) {
    return {pop::Code::kDataLoss, "bytes " + std::to_string(begin) + " to " +
                                      std::to_string(begin + memory_.size()) + " of " + pop::inQuotes(path_) +
                                      " are damaged: their checksum is " + std::to_string(found) +
                                      ", expected " + std::to_string(file_.block_crcs[block]) +
                                      ": take another checkpoint, or restore the file"};
  }
  loaded_ = block;
  return {};
}

pop::Status BlockReader::read(std::uint64_t at, std::span<std::byte> into) {
  while (!into.empty()) {
    POP_RETURN_IF_ERROR(load(at / kBlockBytes));
    const std::size_t from = at % kBlockBytes;
    const std::size_t bytes = std::min(into.size(), memory_.size() - from);
    std::memcpy(into.data(), memory_.data() + from, bytes);
    into = into.subspan(bytes);
    at += bytes;
  }
  return {};
}

}  // namespace popdist::train
