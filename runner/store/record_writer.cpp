// SPDX-License-Identifier: Apache-2.0
#include "common/sys/whole_file.h"
#include "runner/store/append_file.h"
#include "runner/store/frame.h"
#include "runner/store/output_ring.h"
#include "runner/store/record_store.h"
#include "runner/store/segments.h"

namespace pop::runner {

struct RecordWriter::Impl {
  std::string directory;
  AppendFile journal;
  OutputRing output;
  StoreEnd end;
  std::string frame{};
  bool is_directory_synced = false;
};

RecordWriter::RecordWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordWriter::RecordWriter(RecordWriter&&) noexcept = default;
RecordWriter& RecordWriter::operator=(RecordWriter&&) noexcept = default;
RecordWriter::~RecordWriter() = default;

Result<RecordWriter> RecordWriter::open(const std::string& directory, LogBound bound) {
  StoreEnd end;
  const std::string journal_path = directory + "/journal";
  POP_ASSIGN_OR_RETURN(const std::uint64_t journal_bytes,
                       wholeBytes(journal_path, RecordKind::kEvent, 0, end));
  POP_ASSIGN_OR_RETURN(OutputRing output, OutputRing::open(directory + "/out", bound, end));
  POP_ASSIGN_OR_RETURN(AppendFile journal, AppendFile::open(journal_path, journal_bytes));
  return RecordWriter(std::make_unique<Impl>(
      Impl{.directory = directory, .journal = std::move(journal), .output = std::move(output), .end = end}));
}

Result<std::uint64_t> RecordWriter::append(RecordKind kind, std::string_view bytes) {
  if (kind != RecordKind::kEvent && kind != RecordKind::kOutput)
    return invalidArgument("only events and output are appended to a job's records");
  if (bytes.size() > kMostRecordBytes)
    return invalidArgument("a record of " + std::to_string(bytes.size()) + " bytes: at most " +
                           std::to_string(kMostRecordBytes) + " are possible");
  StoreEnd& end = impl_->end;
  const Frame frame{
      .sequence = end.sequence + 1, .output_before = end.output_bytes, .kind = kind, .body = bytes};
  writeFrame(frame, impl_->frame);
  const bool is_output = kind == RecordKind::kOutput;
  const Status status =
      is_output ? impl_->output.append(impl_->frame, frame.sequence) : impl_->journal.append(impl_->frame);
  // The sequence of lost output is used up, so that readers see where it is missing.
  if (status.ok() || is_output) end = {frame.sequence, frame.outputAfter()};
  if (!status.ok()) return status;
  return frame.sequence;
}

Status RecordWriter::sync() {
  POP_RETURN_IF_ERROR(impl_->journal.sync());
  POP_RETURN_IF_ERROR(impl_->output.sync());
  if (impl_->is_directory_synced) return {};
  POP_RETURN_IF_ERROR(sys::syncDirectory(impl_->directory));
  impl_->is_directory_synced = true;
  return {};
}

// Sequences rise from file to file, so the last one of the output is enough.
Result<std::uint64_t> lastSequenceIn(const std::string& directory) {
  StoreEnd end;
  POP_RETURN_IF_ERROR(wholeBytes(directory + "/journal", RecordKind::kEvent, 0, end).status());
  POP_ASSIGN_OR_RETURN(const std::vector<Segment> segments, listSegments(directory + "/out"));
  if (segments.empty()) return end.sequence;
  const std::uint64_t before = segments.back().number - 1;
  end.include({.sequence = before});
  POP_RETURN_IF_ERROR(
      wholeBytes(directory + "/out/" + segments.back().fileName(), RecordKind::kOutput, before, end)
          .status());
  return end.sequence;
}

std::uint64_t RecordWriter::lastSequence() const {
  return impl_->end.sequence;
}

}  // namespace pop::runner
