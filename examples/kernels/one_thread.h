// SPDX-License-Identifier: Apache-2.0
// oneDNN on the thread that calls: an instance is a process with a core of its own.
#pragma once

extern "C" void omp_set_num_threads(int threads);  // of libgomp, whose threads oneDNN would use

/// Before each call of oneDNN: the number belongs to the thread that sets it.
inline void useOneThread() {
  thread_local const bool done = [] {
    omp_set_num_threads(1);
    return true;
  }();
  (void)done;
}
