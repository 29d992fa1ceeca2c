// SPDX-License-Identifier: Apache-2.0
// The one exception of the public API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "popdist/cxx20.hpp"

namespace popdist {

/// The kind of failure. The numbers are those of gRPC's status codes.
enum class ErrorCode : std::uint8_t {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
};

/// Every function of popdist that fails throws it. what() names the operation,
/// the cause and what to do.
class popdist_error : public std::runtime_error {
 public:
  struct Where {
    int rank = -1;          ///< the caller's rank in the communicator; -1: not in one
    int peer = -1;          ///< the instance that failed or was waited for; -1: none in particular
    std::string operation;  ///< "allReduceSum", …
  };

  popdist_error(ErrorCode code, const std::string& message);
  popdist_error(ErrorCode code, const std::string& message, Where where);
  /// Error of a communicator's call: what() is "<call>: <cause>".
  popdist_error(ErrorCode code, const std::string& call, const std::string& cause, Where where);

  ErrorCode code() const { return code_; }
  int rank() const { return where_.rank; }
  int peer() const { return where_.peer; }
  const std::string& operation() const { return where_.operation; }
  /// The text of what() without the call that failed.
  const char* cause() const { return what() + cause_at_; }

 private:
  ErrorCode code_;
  Where where_;
  std::size_t cause_at_ = 0;
};

}  // namespace popdist
