// SPDX-License-Identifier: Apache-2.0
// Reads the frames of one file, also while it is being written.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "runner/store/frame.h"

namespace pop::runner {

class FrameFile {
 public:
  /// Opens an existing file, which holds frames of `kind` only, with rising sequences above `above`.
  /// kNotFound: there is none; kFailedPrecondition: it is no regular file.
  static Result<FrameFile> open(const std::string& path, RecordKind kind, std::uint64_t above);

  /// The frame at the position, valid until the next call of pop(); null: it is not there, or not whole yet.
  /// kDataLoss: the file is damaged here.
  Result<const Frame*> peek();
  void pop();

  /// True if there are bytes at the position: after a null they belong to a frame that is not whole.
  bool hasMore() const;
  /// End of the popped frames.
  std::uint64_t position() const { return position_; }
  std::uint64_t lastSequence() const { return last_sequence_; }

 private:
  FrameFile(sys::Fd file, std::string path, RecordKind kind, std::uint64_t above)
      : file_(std::move(file)), path_(std::move(path)), kind_(kind), last_sequence_(above) {}
  Status load(std::size_t bytes);
  Status damaged() const;

  sys::Fd file_;
  std::string path_;
  RecordKind kind_;
  std::uint64_t last_sequence_;
  std::uint64_t position_ = 0;  // of the next frame in the file
  std::string buffer_;          // from the file, [start_, end_) is from position_ on
  std::size_t start_ = 0;
  std::size_t end_ = 0;
  Frame head_;
  bool has_head_ = false;
};

}  // namespace pop::runner
