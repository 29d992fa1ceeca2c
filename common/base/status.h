// SPDX-License-Identifier: Apache-2.0
// Outcomes as values: Status for "did it work", Result<T> for "the value, or why not". A message names the
// object, the operation, the cause and the option to change; during() adds the outer operation on the way up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/check.h"

namespace pop {

/// Why something failed. Numerically equal to gRPC's status codes, so that a conversion is a cast.
enum class Code : std::uint8_t {
  kOk = 0,
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

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  /// The same failure with the outer operation: "while <operation>: <message>".
  Status during(std::string_view operation) && {
    if (!ok()) message_ = "while " + std::string(operation) + ": " + message_;
    return std::move(*this);
  }

  friend bool operator==(const Status&, const Status&) = default;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

inline Status invalidArgument(std::string message) {
  return {Code::kInvalidArgument, std::move(message)};
}
inline Status failedPrecondition(std::string message) {
  return {Code::kFailedPrecondition, std::move(message)};
}
inline Status unavailable(std::string message) {
  return {Code::kUnavailable, std::move(message)};
}
inline Status internalError(std::string message) {
  return {Code::kInternal, std::move(message)};
}

/// A failed system call: "<what>: <strerror(error_number)>".
Status errnoStatus(std::string_view what, int error_number);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor): return value; reads best
  Result(Status status) : status_(std::move(status)) { POP_CHECK(!status_.ok()); }  // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  Code code() const { return status_.code(); }

  T& value() & { return checked(); }
  const T& value() const& {
    POP_CHECK(ok());
    return *value_;
  }
  T&& value() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  T& operator*() & { return checked(); }

 private:
  T& checked() {
    POP_CHECK(ok());
    return *value_;
  }

  std::optional<T> value_;
  Status status_;
};

}  // namespace pop

#define POP_RETURN_IF_ERROR(expression)                                                  \
  do {                                                                                   \
    if (::pop::Status pop_status_ = (expression); !pop_status_.ok()) return pop_status_; \
  } while (false)

#define POP_CONCAT_INNER_(a, b) a##b
#define POP_CONCAT_(a, b) POP_CONCAT_INNER_(a, b)

/// POP_ASSIGN_OR_RETURN(auto fd, openThing()): declares fd, or returns the Status from this function.
#define POP_ASSIGN_OR_RETURN(declaration, expression)                                               \
  auto POP_CONCAT_(pop_result_, __LINE__) = (expression);                                           \
  if (!POP_CONCAT_(pop_result_, __LINE__).ok()) return POP_CONCAT_(pop_result_, __LINE__).status(); \
  declaration = std::move(POP_CONCAT_(pop_result_, __LINE__)).value()
