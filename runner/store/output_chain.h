// SPDX-License-Identifier: Apache-2.0
// The reader's side of a job's output: from segment file to segment file, of which any may go meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "runner/store/frame_file.h"
#include "runner/store/segments.h"

namespace pop::runner {

class OutputChain {
 public:
  /// Begins with the segment that may hold record `from`.
  OutputChain(std::string directory, std::uint64_t from) : directory_(std::move(directory)), from_(from) {}

  /// As FrameFile's, over all segments.
  Result<const Frame*> peek();
  void pop() { file_->pop(); }

 private:
  Result<std::optional<Segment>> nextSegment() const;
  Result<bool> enter(const Segment& segment);

  std::string directory_;
  std::uint64_t from_;
  std::optional<FrameFile> file_;
  std::uint64_t number_ = 0;  // of that file's segment
};

}  // namespace pop::runner
