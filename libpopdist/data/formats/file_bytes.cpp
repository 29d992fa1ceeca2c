// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/file_bytes.h"

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "libpopdist/data/formats/gzip_source.h"

namespace popdist::io {
namespace {

constexpr std::size_t kFirstReadBytes = 256 * 1024;

bool isGzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

/// The size at a gzip file's end, if that can be: files of several parts, or of 4 GiB, say less.
std::size_t expectedBytes(std::span<const std::byte> gzip) {
  constexpr std::size_t kMostRatio = 1032;  // deflate's
  std::uint32_t bytes = 0;
  if (gzip.size() < sizeof(bytes)) return 0;
  std::memcpy(&bytes, gzip.data() + gzip.size() - sizeof(bytes), sizeof(bytes));
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap32(bytes);
  return bytes / kMostRatio <= gzip.size() ? bytes : 0;
}

/// Has room for what is expected, and grows with what has arrived.
pop::Result<std::vector<std::uint8_t>> readToEnd(ByteSource& source, std::size_t expected) {
  std::vector<std::uint8_t> content;
  while (true) {
    const std::size_t have = content.size();
    try {
      content.reserve(expected + kFirstReadBytes);
      const std::size_t more = std::max(kFirstReadBytes, have);
      content.resize(have + (have <= expected ? std::min(more, expected + kFirstReadBytes - have) : more));
    } catch (const std::bad_alloc&) {
      return pop::Status(pop::Code::kResourceExhausted, pop::inQuotes(source.name()) +
                                                            " does not fit in memory: decompress it, so that "
                                                            "it can be mapped");
    }
    const std::size_t room = content.size() - have;
    POP_ASSIGN_OR_RETURN(const std::size_t got, source.read(std::span(content).subspan(have)));
    if (got == room) continue;
    content.resize(have + got);
    POP_RETURN_IF_ERROR(source.endStatus());
    if (content.capacity() > content.size() + kFirstReadBytes) content.shrink_to_fit();
    return content;
  }
}

}  // namespace

pop::Result<FileBytes> FileBytes::map(const std::string& path) {
  const pop::sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would wait
  if (!file.valid()) return pop::errnoStatus("opening " + path, errno);
  POP_ASSIGN_OR_RETURN(FileState state, FileState::of(file.get(), path));
  FileBytes result(std::move(state));
  if (result.state_.bytes == 0) return result;
  POP_ASSIGN_OR_RETURN(result.mapping_, Mapping::of(file.get(), result.state_));
  result.bytes_ = result.mapping_->bytes();
  return result;
}

pop::Result<FileBytes> FileBytes::open(const std::string& path) {
  POP_ASSIGN_OR_RETURN(FileBytes file, map(path));
  if (!isGzip(file.bytes())) return file;
  POP_ASSIGN_OR_RETURN(GzipSource source, GzipSource::open(path));
  POP_ASSIGN_OR_RETURN(file.decompressed_, readToEnd(source, expectedBytes(file.bytes())));
  if (source.isFollowed()) {
    return pop::Status(pop::Code::kDataLoss, pop::inQuotes(path) + " is damaged: after " +
                                                 std::to_string(file.decompressed_.size()) +
                                                 " bytes of content comes what is no gzip data");
  }
  file.mapping_.reset();
  file.bytes_ = std::as_bytes(std::span(std::as_const(file.decompressed_)));
  return file;
}

}  // namespace popdist::io
