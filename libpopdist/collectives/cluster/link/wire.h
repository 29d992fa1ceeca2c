// SPDX-License-Identifier: Apache-2.0
// Protocol between instances of a cluster and the server in instance 0: frames (common/contract/frame.h) over
// TCP. Numbers are decimal text. Both sides limit what they read.
//
//   instance: kHello …                     server: kWelcome, or kError and the end
//   instance: kPut* kFence                 server: kValues* kReleased, or kError
//   instance: kBye, or the connection ends server, to all others: kEnded
#pragma once

#include <cstddef>
#include <cstdint>

namespace popdist::cluster {

/// Begins a hello: any other caller, or called process, is no instance.
inline constexpr const char* kGreeting = "popdist-cluster";
/// Changes with every change that the other side would misunderstand.
inline constexpr int kProtocol = 1;

/// The most bytes of a frame up to the welcome: the list of a large cluster.
inline constexpr std::size_t kMostHelloBytes = 1 << 20;
/// The most bytes of keys and values that all instances put for one fence. Every instance gets them.
inline constexpr std::size_t kMostPutBytes = std::size_t{64} << 20;

enum class Message : std::uint8_t {
  kHello = 1,    ///< instance → server: kGreeting, kProtocol, instance, process ("pid 7 on host"), options,
                 ///< "chief" or "", the address of each instance
  kWelcome = 2,  ///< server → instance: kGreeting, key of the job (16 bytes)
  kPut = 3,      ///< instance → server: key, value; visible from the next fence on
  kFence = 4,    ///< instance → server: number of the call, timeout in milliseconds, tag
  kValues = 5,  ///< server → instance: key, value, key, value, …: what was put for the fence that opens next
  kReleased = 6,  ///< server → instance: number of the call
  kEnded = 7,     ///< server → instance: instance, "1" if it ended well, text
  kAbort = 8,     ///< instance → server: exit code, message; ends all processes
  kAborted = 9,   ///< server → instance: exit code, text; the answer to kAbort, and to all others
  kBye = 10,      ///< instance → server: "1": it ends well, "0": an exception ends it
  kError = 11,    ///< server → instance: number of the call (0: the hello), code, instance or -1, text
};

}  // namespace popdist::cluster
