// SPDX-License-Identifier: Apache-2.0
#include "runner/job_recorder.h"

namespace pop::runner {

bool Recorder::write(int instance, Stream stream, std::string_view text) {
  static_cast<void>(
      writer_.append(RecordKind::kOutput, wire::encode(wire::Output{instance, stream, std::string(text)})));
  appended_();
  return true;
}

void Recorder::note(const wire::JobEvent& event) {
  static_cast<void>(writer_.append(RecordKind::kEvent, wire::encode(event)));
  appended_();
}

}  // namespace pop::runner
