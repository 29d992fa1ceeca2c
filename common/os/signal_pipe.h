// SPDX-License-Identifier: Apache-2.0
// Signals of this process through a pipe: each one that arrives is a record in it.
#pragma once

#include <optional>
#include <vector>

#include "common/base/loop.h"
#include "common/sys/fd.h"

namespace pop::os {

struct Signal {
  int number = 0;
  Clock::time_point at;  ///< arrival time, even if it is read later
};

/// One in a process at a time. Its destructor restores the signals' default actions.
class SignalPipe {
 public:
  explicit SignalPipe(std::vector<int> signals);
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  int fd() const { return pipe_.read_end.get(); }
  /// Returns the next signal that has arrived, if any.
  std::optional<Signal> take();

 private:
  const std::vector<int> signals_;
  sys::Pipe pipe_;
};

}  // namespace pop::os
