// SPDX-License-Identifier: Apache-2.0
// Denormals: floats below 1.2e-38 and doubles below 2.2e-308, which many CPUs compute with a hundred times as
// slowly as with others. Training makes them: the momentum of a weight whose gradient is always zero shrinks
// until it is one, and then stays, since 0.9 times the smallest denormal rounds to itself.
//
//   int main() {
//     const popdist::FlushDenormals flush;
//     train();
//   }
#pragma once

#include "popdist/cxx20.hpp"

namespace popdist {

/// As long as it lives, this thread's float and double arithmetic takes denormals for zero, and gives zero in
/// their place: the bits DAZ and FTZ of MXCSR, on x86. Then both are as they were before; guards nest. It
/// belongs to the thread that made it, and is destroyed there. Costs some 20 cycles at each end.
///
/// Per thread: others go on as they were, but a thread starts with what holds in the thread that creates it,
/// in this library's objects too (Infeed, AsyncCommunicator). So make the guard first. It changes results,
/// where they would be denormal or come from denormals, and a sum of collectives is computed by any of its
/// members. For equal bits all instances of a job must have it, or none. Not changed: long double,
/// conversions of half, copies and comparisons of bits. Elsewhere than on x86-64 it does nothing:
/// isSupported() says so.
class FlushDenormals {
 public:
  FlushDenormals() noexcept;
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

  static bool isSupported() noexcept;

 private:
  unsigned before_;  // the two bits
};

}  // namespace popdist
