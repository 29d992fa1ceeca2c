// SPDX-License-Identifier: Apache-2.0
// Turns what a job writes and what happens to it into records, and tells clients that there are new ones.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "common/ports/agent_port.h"
#include "common/ports/controller_port.h"
#include "common/wire/job_codec.h"
#include "runner/store/record_store.h"

namespace pop::runner {

class Recorder final : public OutputSink {
 public:
  /// `appended` is called after each record.
  Recorder(RecordWriter writer, std::function<void()> appended)
      : writer_(std::move(writer)), appended_(std::move(appended)) {}

  /// Never holds the job up: what cannot be stored is part of a gap.
  bool write(int instance, Stream stream, std::string_view text) override;
  void setOnReady(std::function<void()>) override {}

  void note(const wire::JobEvent& event);

  std::uint64_t lastSequence() const { return writer_.lastSequence(); }

  /// All records are on the disk. An error says that some are not.
  Status sync() { return writer_.sync(); }

 private:
  RecordWriter writer_;
  const std::function<void()> appended_;
};

}  // namespace pop::runner
