// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/gzip_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>

#include "common/base/text.h"

namespace popdist::io {
namespace {

constexpr std::size_t kBufferBytes = 128 * 1024;  // buffers of a few KiB would each cost a system call
constexpr int kGzipWindowBits = 16 + 15;          // gzip only, windows of any size
constexpr std::uint8_t kMagic[] = {0x1f, 0x8b};

pop::Status cannot(const std::string& verb, const std::string& path, int error_number) {
  const pop::Status status = pop::errnoStatus("cannot " + verb + ' ' + pop::inQuotes(path), error_number);
  switch (error_number) {
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:  // these paths lead to no file either
      return {pop::Code::kNotFound, status.message()};
    case EISDIR:
      return pop::invalidArgument(status.message());
    default:
      return status;
  }
}

}  // namespace

pop::Result<GzipSource> GzipSource::open(const std::string& path) {
  pop::sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would wait
  if (!file.valid()) return cannot("open", path, errno);
  POP_ASSIGN_OR_RETURN(FileState state, FileState::of(file.get(), path));
  std::unique_ptr<std::uint8_t[]> buffer(new (std::nothrow) std::uint8_t[kBufferBytes]);
  Stream stream(new (std::nothrow) z_stream{});
  if (!buffer || !stream || inflateInit2(stream.get(), kGzipWindowBits) != Z_OK)
    return cannot("read", path, ENOMEM);
  return GzipSource(std::move(state), std::move(file), std::move(buffer), std::move(stream));
}

pop::Result<std::size_t> GzipSource::read(std::span<std::uint8_t> into) {
  std::size_t have = 0;
  while (have < into.size() && !ended()) {
    POP_ASSIGN_OR_RETURN(const std::size_t got, readSome(into.subspan(have)));
    have += got;
  }
  return have;
}

pop::Status GzipSource::endStatus() const {
  if (place_ != Place::kAtCutEnd) return {};
  return {pop::Code::kDataLoss, pop::inQuotes(state_.path) + " is truncated: its gzip stream has no end"};
}

pop::Result<std::size_t> GzipSource::readSome(std::span<std::uint8_t> into) {
  if (place_ == Place::kStart || place_ == Place::kAfterMember) POP_RETURN_IF_ERROR(recognise());
  if (place_ == Place::kInPlainFile) return copySome(into);
  if (place_ == Place::kInMember) return inflateSome(into);
  return std::size_t{0};
}

pop::Status GzipSource::recognise() {
  POP_RETURN_IF_ERROR(lookAhead(std::size(kMagic)));
  const std::span ahead(stream_->next_in, stream_->avail_in);
  if (ahead.size() >= std::size(kMagic) && std::ranges::equal(ahead.first(std::size(kMagic)), kMagic)) {
    inflateReset(stream_.get());
    place_ = Place::kInMember;
  } else {
    // Data after the last member that is no member is ignored, as gzip does.
    is_followed_ = place_ == Place::kAfterMember &&
                   std::any_of(ahead.begin(), ahead.end(), [](std::uint8_t byte) { return byte != 0; });
    place_ = place_ == Place::kStart ? Place::kInPlainFile : Place::kAtEnd;
  }
  return {};
}

pop::Result<std::size_t> GzipSource::copySome(std::span<std::uint8_t> into) {
  std::size_t count = std::min<std::size_t>(into.size(), stream_->avail_in);
  if (count > 0) {
    std::copy_n(stream_->next_in, count, into.begin());
    stream_->next_in += count;
    stream_->avail_in -= static_cast<uInt>(count);
  } else {
    POP_ASSIGN_OR_RETURN(count, readFile(into));
    if (count == 0) place_ = Place::kAtEnd;
  }
  return count;
}

pop::Result<std::size_t> GzipSource::inflateSome(std::span<std::uint8_t> into) {
  POP_RETURN_IF_ERROR(lookAhead(1));
  const std::size_t room = std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max());
  stream_->next_out = into.data();
  stream_->avail_out = static_cast<uInt>(room);
  switch (inflate(stream_.get(), Z_NO_FLUSH)) {
    case Z_OK:
      break;
    case Z_STREAM_END:  // and the checksum is that of the content
      place_ = Place::kAfterMember;
      break;
    case Z_BUF_ERROR:  // there is room, so it is the input that has run out
      place_ = Place::kAtCutEnd;
      break;
    case Z_MEM_ERROR:
      return cannot("decompress", state_.path, ENOMEM);
    default:
      return pop::Status(pop::Code::kDataLoss,
                         pop::inQuotes(state_.path) + " holds corrupt gzip data" +
                             (stream_->msg == nullptr ? "" : ": " + std::string(stream_->msg)));
  }
  return room - stream_->avail_out;
}

pop::Status GzipSource::lookAhead(std::size_t wanted) {
  if (stream_->avail_in >= wanted) return {};
  std::copy_n(stream_->next_in, stream_->avail_in, buffer_.get());
  stream_->next_in = buffer_.get();
  const std::span buffer(buffer_.get(), kBufferBytes);
  while (stream_->avail_in < wanted) {
    POP_ASSIGN_OR_RETURN(const std::size_t got, readFile(buffer.subspan(stream_->avail_in)));
    if (got == 0) break;
    stream_->avail_in += static_cast<uInt>(got);
  }
  return {};
}

pop::Result<std::size_t> GzipSource::readFile(std::span<std::uint8_t> into) {
  while (true) {
    const ssize_t got = ::read(file_.get(), into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return cannot("read", state_.path, errno);
  }
}

}  // namespace popdist::io
