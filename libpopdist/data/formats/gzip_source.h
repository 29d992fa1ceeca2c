// SPDX-License-Identifier: Apache-2.0
// A file's bytes, decompressed if the file is gzip.
#pragma once

#include <zlib.h>

#include <memory>
#include <string>

#include "common/sys/fd.h"
#include "libpopdist/data/formats/byte_source.h"
#include "libpopdist/data/formats/file_state.h"

namespace popdist::io {

/// Runs inflate itself, since gzread cannot tell a whole file from one without its last bytes: asked for
/// exactly what is there, it never looks for the checksum behind it.
class GzipSource final : public ByteSource {
 public:
  static pop::Result<GzipSource> open(const std::string& path);

  const std::string& name() const override { return state_.path; }
  const FileState& state() const { return state_; }
  pop::Result<std::size_t> read(std::span<std::uint8_t> into) override;
  pop::Status endStatus() const override;

  /// At the end: bytes that are neither gzip nor zeros lie behind what was read, as behind a file that was
  /// made of several and one of them is damaged. gzip ignores them.
  bool isFollowed() const { return is_followed_; }

 private:
  // A gzip file is one member or several, one after the other.
  enum class Place : std::uint8_t { kStart, kInPlainFile, kInMember, kAfterMember, kAtEnd, kAtCutEnd };
  struct End {
    void operator()(z_stream* stream) const {
      inflateEnd(stream);
      delete stream;
    }
  };
  using Stream = std::unique_ptr<z_stream, End>;  // zlib wants it to stay where it is

  GzipSource(FileState state, pop::sys::Fd file, std::unique_ptr<std::uint8_t[]> buffer, Stream stream)
      : state_(std::move(state)),
        file_(std::move(file)),
        buffer_(std::move(buffer)),
        stream_(std::move(stream)) {}

  bool ended() const { return place_ == Place::kAtEnd || place_ == Place::kAtCutEnd; }

  // Each of these does one step and returns how many bytes it has put into `into`.
  pop::Result<std::size_t> readSome(std::span<std::uint8_t> into);
  pop::Result<std::size_t> copySome(std::span<std::uint8_t> into);
  pop::Result<std::size_t> inflateSome(std::span<std::uint8_t> into);

  /// Finds out what lies ahead at the start and after a member.
  pop::Status recognise();

  /// Reads on until `wanted` bytes lie ahead in the buffer, or fewer at the file's end.
  pop::Status lookAhead(std::size_t wanted);

  /// 0 at the file's end.
  pop::Result<std::size_t> readFile(std::span<std::uint8_t> into);

  FileState state_;
  pop::sys::Fd file_;
  std::unique_ptr<std::uint8_t[]> buffer_;
  Stream stream_;  // next_in and avail_in are what is unread of the buffer, of a plain file too
  Place place_ = Place::kStart;
  bool is_followed_ = false;
};

}  // namespace popdist::io
