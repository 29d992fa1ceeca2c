// SPDX-License-Identifier: Apache-2.0
#include "runner/store/output_chain.h"

#include <algorithm>

namespace pop::runner {

Result<const Frame*> OutputChain::peek() {
  while (true) {
    if (file_) {
      Result<const Frame*> frame = file_->peek();
      if (!frame.ok() || frame.value() != nullptr) return frame;
    }
    POP_ASSIGN_OR_RETURN(std::optional<Segment> next, nextSegment());
    if (!next) return nullptr;
    // A list that was made while files were may have a later one without an earlier one; the next list has
    // both.
    POP_ASSIGN_OR_RETURN(next, nextSegment());
    if (!next) continue;
    if (file_) {
      // Its writer had finished with the file when it made the next one, but may have added to it after the
      // look above.
      Result<const Frame*> frame = file_->peek();
      if (!frame.ok() || frame.value() != nullptr) return frame;
      if (file_->hasMore())
        return Status(Code::kDataLoss,
                      directory_ + ": the segment before " + next->fileName() + " is cut off");
    }
    POP_RETURN_IF_ERROR(enter(*next).status());
  }
}

Result<std::optional<Segment>> OutputChain::nextSegment() const {
  POP_ASSIGN_OR_RETURN(const std::vector<Segment> segments, listSegments(directory_));
  std::optional<Segment> next;
  for (const Segment& segment : segments) {
    if (file_ && segment.number <= number_) continue;
    const bool is_better = !file_ && segment.number <= from_;
    if (!next || is_better) next = segment;
  }
  return next;
}

// False: the segment is gone since it was listed.
Result<bool> OutputChain::enter(const Segment& segment) {
  const std::uint64_t above = std::max(segment.number - 1, file_ ? file_->lastSequence() : 0);
  const std::string path = directory_ + "/" + segment.fileName();
  Result<FrameFile> file = FrameFile::open(path, RecordKind::kOutput, above);
  if (file.code() == Code::kNotFound) return false;
  if (!file.ok()) return file.status();
  file_ = std::move(file).value();
  number_ = segment.number;
  return true;
}

}  // namespace pop::runner
