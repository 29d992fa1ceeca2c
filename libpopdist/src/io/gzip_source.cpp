// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/io/gzip_source.h"

#include <algorithm>
#include <cerrno>

#include "common/base/text.h"

namespace popdist::io {
namespace {

constexpr unsigned kBufferBytes = 128 * 1024;     // zlib's 8 KiB costs a system call for each
constexpr std::size_t kReadBytesMax = 1U << 30U;  // gzread's result is an int

}  // namespace

pop::Result<GzipSource> GzipSource::open(const std::string& path) {
  errno = 0;
  File file(gzopen(path.c_str(), "rbe"));  // e: close-on-exec
  if (!file) return pop::errnoStatus("cannot open " + pop::inQuotes(path), errno != 0 ? errno : ENOMEM);
  gzbuffer(file.get(), kBufferBytes);
  return GzipSource(path, std::move(file));
}

pop::Result<std::size_t> GzipSource::read(std::span<std::uint8_t> into) {
  std::size_t have = 0;
  while (have < into.size()) {
    const auto wanted = static_cast<unsigned>(std::min(into.size() - have, kReadBytesMax));
    errno = 0;
    const int got = gzread(file_.get(), into.data() + have, wanted);
    if (got < 0) {
      const int system_error = errno;
      int zlib_error = Z_OK;
      const char* why = gzerror(file_.get(), &zlib_error);
      if (zlib_error == Z_ERRNO) return pop::errnoStatus("cannot read " + pop::inQuotes(path_), system_error);
      return pop::Status(zlib_error == Z_MEM_ERROR ? pop::Code::kResourceExhausted : pop::Code::kDataLoss,
                         "corrupt gzip data: " + std::string(why));  // zlib puts the path in front
    }
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

pop::Status GzipSource::endStatus() const {
  int zlib_error = Z_OK;
  gzerror(file_.get(), &zlib_error);
  if (zlib_error != Z_BUF_ERROR) return {};
  return {pop::Code::kDataLoss, pop::inQuotes(path_) + " is truncated: its gzip stream has no end"};
}

}  // namespace popdist::io
