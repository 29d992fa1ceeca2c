// SPDX-License-Identifier: Apache-2.0
#include "runner/store/output_ring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/sys/whole_file.h"
#include "runner/store/frame_file.h"

namespace pop::runner {
namespace {

// The ring needs two segments at least: one that is written, and one that can go.
LogBound withRoomForTheRing(LogBound bound) {
  bound.kept_first = std::min(bound.kept_first, bound.bytes / 2);
  bound.segment_bytes = std::min(bound.segment_bytes, (bound.bytes - bound.kept_first) / 2);
  return bound;
}

std::uint64_t fileSize(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

void StoreEnd::include(const StoreEnd& other) {
  sequence = std::max(sequence, other.sequence);
  output_bytes = std::max(output_bytes, other.output_bytes);
}

Result<std::uint64_t> wholeBytes(const std::string& path, RecordKind kind, std::uint64_t above,
                                 StoreEnd& end) {
  Result<FrameFile> file = FrameFile::open(path, kind, above);
  if (file.code() == Code::kNotFound) return std::uint64_t{0};
  if (!file.ok()) return file.status();
  while (true) {
    const Result<const Frame*> frame = file->peek();
    if (!frame.ok() && frame.code() != Code::kDataLoss) return frame.status();
    if (!frame.ok() || frame.value() == nullptr) return file->position();
    end.include({frame.value()->sequence, frame.value()->outputAfter()});
    file->pop();
  }
}

OutputRing::OutputRing(std::string directory, LogBound bound)
    : directory_(std::move(directory)), bound_(withRoomForTheRing(bound)) {}

Result<OutputRing> OutputRing::open(const std::string& directory, LogBound bound, StoreEnd& end) {
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return errnoStatus("making " + directory, errno);
  OutputRing ring(directory, bound);
  POP_ASSIGN_OR_RETURN(const std::vector<Segment> segments, listSegments(directory));
  StoreEnd output;
  bool is_damaged = false;
  for (const Segment& segment : segments) {
    const std::string path = ring.pathOf(segment);
    output.sequence = std::max(output.sequence, segment.number - 1);
    POP_ASSIGN_OR_RETURN(const std::uint64_t bytes,
                         wholeBytes(path, RecordKind::kOutput, output.sequence, output));
    if (is_damaged) {
      if (::unlink(path.c_str()) != 0) return errnoStatus("removing " + path, errno);
      continue;
    }
    is_damaged = bytes < fileSize(path);
    ring.parts_.push_back({.segment = segment, .bytes = bytes});
    ring.bytes_ += bytes;
    if (segment.is_kept) ring.kept_bytes_ += bytes;
  }
  end.include(output);
  if (!ring.parts_.empty()) {
    const Part& last = ring.parts_.back();
    POP_ASSIGN_OR_RETURN(ring.current_, AppendFile::open(ring.pathOf(last.segment), last.bytes));
  }
  return ring;
}

bool OutputRing::isKeepingFirst() const {
  return kept_bytes_ < bound_.kept_first && (parts_.empty() || parts_.back().segment.is_kept);
}

bool OutputRing::mustBegin(std::size_t bytes) const {
  if (parts_.empty()) return true;
  const Part& last = parts_.back();
  if (last.segment.is_kept && !isKeepingFirst()) return true;
  return last.bytes > 0 && last.bytes + bytes > bound_.segment_bytes;
}

Status OutputRing::append(std::string_view frame, std::uint64_t sequence) {
  if (mustBegin(frame.size())) POP_RETURN_IF_ERROR(beginSegment(sequence));
  POP_RETURN_IF_ERROR(current_.append(frame));
  Part& part = parts_.back();
  part.bytes += frame.size();
  part.is_synced = false;
  bytes_ += frame.size();
  if (part.segment.is_kept) kept_bytes_ += frame.size();
  if (bytes_ > bound_.bytes) dropOldest();
  return {};
}

Status OutputRing::beginSegment(std::uint64_t number) {
  const Segment segment{.number = number, .is_kept = isKeepingFirst()};
  POP_ASSIGN_OR_RETURN(current_, AppendFile::open(pathOf(segment), 0));
  parts_.push_back({.segment = segment});
  return {};
}

void OutputRing::dropOldest() {
  auto oldest = std::find_if(parts_.begin(), parts_.end(), [](const Part& p) { return !p.segment.is_kept; });
  auto end = oldest;
  for (; bytes_ > bound_.bytes && end != parts_.end() && end + 1 != parts_.end(); ++end) {
    // The next append retries a removal that fails now.
    if (::unlink(pathOf(end->segment).c_str()) != 0 && errno != ENOENT) break;
    bytes_ -= end->bytes;
  }
  parts_.erase(oldest, end);
}

Status OutputRing::sync() {
  bool is_new = false;
  for (Part& part : parts_) {
    if (part.is_synced) continue;
    const bool is_current = &part == &parts_.back();
    if (is_current) {
      POP_RETURN_IF_ERROR(current_.sync());
    } else {
      const std::string path = pathOf(part.segment);
      POP_ASSIGN_OR_RETURN(const sys::Fd file, sys::openRegular(path, O_RDWR));
      POP_RETURN_IF_ERROR(sys::syncFile(file, path));
    }
    part.is_synced = is_new = true;
  }
  return is_new ? sys::syncDirectory(directory_) : Status{};
}

}  // namespace pop::runner
