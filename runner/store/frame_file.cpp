// SPDX-License-Identifier: Apache-2.0
#include "runner/store/frame_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/sys/whole_file.h"

namespace pop::runner {
namespace {

constexpr std::size_t kChunkBytes = 256 << 10;
// A writer that takes back a write for which there was no space, and writes something shorter there, can show
// a reader a mixture; hardly ever this often.
constexpr int kLooks = 10;

std::uint64_t sizeOf(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

Result<FrameFile> FrameFile::open(const std::string& path, RecordKind kind, std::uint64_t above) {
  POP_ASSIGN_OR_RETURN(sys::Fd file, sys::openRegular(path, O_RDONLY));
  return FrameFile(std::move(file), path, kind, above);
}

Result<const Frame*> FrameFile::peek() {
  if (has_head_) return &head_;
  ParsedFrame parsed = parseFrame(std::string_view(buffer_).substr(start_, end_ - start_));
  // A frame that is not whole is read afresh each time: its writer may have taken it back.
  for (int look = 0; parsed.state != FrameState::kWhole && look < kLooks; ++look) {
    POP_RETURN_IF_ERROR(load(kChunkBytes));
    parsed = parseFrame(std::string_view(buffer_).substr(0, end_));
    if (parsed.state == FrameState::kShort && parsed.needed > end_ && end_ == kChunkBytes) {
      POP_RETURN_IF_ERROR(load(parsed.needed + 1));
      parsed = parseFrame(std::string_view(buffer_).substr(0, end_));
    }
    if (parsed.state == FrameState::kShort) return nullptr;
  }
  const bool is_whole = parsed.state == FrameState::kWhole;
  if (!is_whole || parsed.frame.kind != kind_ || parsed.frame.sequence <= last_sequence_) return damaged();
  head_ = parsed.frame;
  has_head_ = true;
  return &head_;
}

void FrameFile::pop() {
  last_sequence_ = head_.sequence;
  position_ += head_.size();
  start_ += head_.size();
  has_head_ = false;
}

bool FrameFile::hasMore() const {
  return sizeOf(file_.get()) > position_;
}

Status FrameFile::load(std::size_t bytes) {
  // Not more memory than there is file, whatever a header says; most jobs write a few hundred bytes.
  const std::uint64_t size = sizeOf(file_.get());
  bytes = std::min<std::uint64_t>(bytes, size > position_ ? size - position_ : 0);
  if (buffer_.size() < bytes) buffer_.resize(bytes);
  start_ = end_ = 0;
  while (end_ < bytes) {
    const ssize_t got =
        ::pread(file_.get(), buffer_.data() + end_, bytes - end_, static_cast<off_t>(position_ + end_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errnoStatus("reading " + path_, errno);
    if (got == 0) break;
    end_ += static_cast<std::size_t>(got);
  }
  return {};
}

Status FrameFile::damaged() const {
  return {Code::kDataLoss, path_ + " is damaged at byte " + std::to_string(position_) +
                               ": what the job has written from there on cannot be read"};
}

}  // namespace pop::runner
