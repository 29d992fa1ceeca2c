// SPDX-License-Identifier: Apache-2.0
#include "runner/recorder.h"

namespace pop::runner {

bool Recorder::write(int instance, Stream stream, std::string_view text) {
  static_cast<void>(writer_.append(RecordKind::kOutput, encode(Output{instance, stream, std::string(text)})));
  appended_();
  return true;
}

void Recorder::note(const JobEvent& event) {
  static_cast<void>(writer_.append(RecordKind::kEvent, encode(event)));
  appended_();
}

}  // namespace pop::runner
