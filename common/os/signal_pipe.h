// SPDX-License-Identifier: Apache-2.0
// Signals of this process as something readable: each that arrives is a record in a pipe.
#pragma once

#include <optional>
#include <vector>

#include "common/base/loop.h"
#include "common/sys/fd.h"

namespace pop::os {

struct Signal {
  int number = 0;
  Clock::time_point at;  ///< when it arrived, however long nobody looked
};

/// One in a process at a time. Its end gives the signals their default actions back.
class SignalPipe {
 public:
  explicit SignalPipe(std::vector<int> signals);
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  int fd() const { return pipe_.read_end.get(); }
  /// The next signal that has arrived, if any.
  std::optional<Signal> take();

 private:
  const std::vector<int> signals_;
  sys::Pipe pipe_;
};

}  // namespace pop::os
