// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "runner/store/frame_file.h"
#include "runner/store/output_chain.h"
#include "runner/store/record_store.h"

namespace pop::runner {
namespace {

// The journal, which its writer may not have made yet.
class Journal {
 public:
  explicit Journal(std::string path) : path_(std::move(path)) {}

  Result<const Frame*> peek() {
    if (!file_) {
      Result<FrameFile> file = FrameFile::open(path_, RecordKind::kEvent, 0);
      if (file.code() == Code::kNotFound) return nullptr;
      if (!file.ok()) return file.status();
      file_ = std::move(file).value();
    }
    return file_->peek();
  }
  void pop() { file_->pop(); }

 private:
  std::string path_;
  std::optional<FrameFile> file_;
};

}  // namespace

// Merges both by sequence.
struct RecordReader::Impl {
  Journal journal;
  OutputChain output;
  std::uint64_t from;
  Reads reads;
  std::uint64_t next_sequence = 1;  // none is missing before
  std::uint64_t output_bytes = 0;   // before next_sequence
  bool last_was_output = false;

  // The lowest frame there is; null: none. It is the next one, or one is missing before it.
  Result<const Frame*> lowest();
  // Looks first where the last one came from: neighbours are mostly alike.
  Result<const Frame*> peek(bool at_output) { return at_output ? output.peek() : journal.peek(); }
  void pop(const Frame& frame);
  Result<std::optional<Record>> next();
  Result<std::optional<Record>> nextEvent();
};

Result<const Frame*> RecordReader::Impl::lowest() {
  bool at_output = last_was_output;
  Result<const Frame*> first = peek(at_output);
  if (first.ok() && first.value() != nullptr && first.value()->sequence <= next_sequence) return first;
  at_output = !at_output;
  Result<const Frame*> second = peek(at_output);
  if (second.ok() && second.value() != nullptr && second.value()->sequence <= next_sequence) return second;
  if (!second.ok()) return second;
  if (second.value() == nullptr) return first;
  // The writer may have put something there between the two looks, before it wrote what the second one saw.
  first = peek(!at_output);
  if (!first.ok()) return first;
  const bool is_first = first.value() != nullptr && first.value()->sequence < second.value()->sequence;
  return is_first ? first : second;
}

void RecordReader::Impl::pop(const Frame& frame) {
  next_sequence = frame.sequence + 1;
  output_bytes = frame.outputAfter();
  last_was_output = frame.kind == RecordKind::kOutput;
  last_was_output ? output.pop() : journal.pop();
}

Result<std::optional<Record>> RecordReader::Impl::next() {
  while (true) {
    POP_ASSIGN_OR_RETURN(const Frame* frame, lowest());
    if (frame == nullptr) return std::optional<Record>();
    if (frame->sequence < next_sequence || frame->output_before < output_bytes)
      return Status(Code::kDataLoss, "the job's records are damaged: number " +
                                         std::to_string(frame->sequence) + " does not follow " +
                                         std::to_string(next_sequence - 1));
    if (frame->sequence < from) {
      pop(*frame);
      continue;
    }
    Record record;
    if (frame->sequence > std::max(next_sequence, from)) {
      record = {frame->sequence - 1, RecordKind::kGap, std::to_string(frame->output_before - output_bytes)};
      next_sequence = frame->sequence;
      output_bytes = frame->output_before;
    } else {
      record = {frame->sequence, frame->kind, std::string(frame->body)};
      pop(*frame);
    }
    return std::optional(std::move(record));
  }
}

// The journal's frames have rising sequences: its file sees to that.
Result<std::optional<Record>> RecordReader::Impl::nextEvent() {
  while (true) {
    POP_ASSIGN_OR_RETURN(const Frame* frame, journal.peek());
    if (frame == nullptr) return std::optional<Record>();
    std::optional<Record> record;
    if (frame->sequence >= from) record = {frame->sequence, frame->kind, std::string(frame->body)};
    journal.pop();
    if (record) return record;
  }
}

RecordReader::RecordReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordReader::RecordReader(RecordReader&&) noexcept = default;
RecordReader& RecordReader::operator=(RecordReader&&) noexcept = default;
RecordReader::~RecordReader() = default;

Result<RecordReader> RecordReader::open(const std::string& directory, std::uint64_t from, Reads reads) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) return errnoStatus("opening " + directory, errno);
  return RecordReader(std::make_unique<Impl>(Impl{.journal = Journal(directory + "/journal"),
                                                  .output = OutputChain(directory + "/out", from),
                                                  .from = from,
                                                  .reads = reads}));
}

Result<std::optional<Record>> RecordReader::next() {
  return impl_->reads == Reads::kEvents ? impl_->nextEvent() : impl_->next();
}

}  // namespace pop::runner
