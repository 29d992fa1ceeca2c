// SPDX-License-Identifier: Apache-2.0
#include "common/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

namespace pop {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return invalidArgument(std::to_string(number) + " is odd");
  return number / 2;
}

Result<int> quarter(int number) {
  POP_ASSIGN_OR_RETURN(const int halved, half(number));
  POP_ASSIGN_OR_RETURN(const int result, half(halved));
  return result;
}

Status mustBePositive(int number) {
  if (number <= 0) return {Code::kOutOfRange, "not positive"};
  return {};
}

Status bothPositive(int first, int second, int& checked) {
  POP_RETURN_IF_ERROR(mustBePositive(first));
  ++checked;
  POP_RETURN_IF_ERROR(mustBePositive(second));
  ++checked;
  return {};
}

TEST(Status, IsOkUnlessItSaysWhyNot) {
  EXPECT_TRUE(Status().ok());
  const Status failed(Code::kNotFound, "no such thing");
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.code(), Code::kNotFound);
  EXPECT_EQ(failed.message(), "no such thing");
}

TEST(Status, DuringPutsTheOuterOperationInFront) {
  const Status failed =
      Status(Code::kUnavailable, "refused").during("connecting").during("starting instance 3");
  EXPECT_EQ(failed, Status(Code::kUnavailable, "while starting instance 3: while connecting: refused"));
  EXPECT_EQ(Status().during("sleeping"), Status());
}

TEST(Status, CodesAreTheNumbersOfGrpc) {
  EXPECT_EQ(static_cast<int>(Code::kInvalidArgument), 3);
  EXPECT_EQ(static_cast<int>(Code::kDeadlineExceeded), 4);
  EXPECT_EQ(static_cast<int>(Code::kResourceExhausted), 8);
  EXPECT_EQ(static_cast<int>(Code::kUnavailable), 14);
  EXPECT_EQ(static_cast<int>(Code::kDataLoss), 15);
}

TEST(Status, OfASystemCallNamesWhatAndWhy) {
  const Status missing = errnoStatus("opening /no/where", ENOENT);
  EXPECT_EQ(missing, Status(Code::kNotFound, "opening /no/where: No such file or directory"));
  EXPECT_EQ(errnoStatus("x", EEXIST).code(), Code::kAlreadyExists);
  EXPECT_EQ(errnoStatus("x", EACCES).code(), Code::kPermissionDenied);
  EXPECT_EQ(errnoStatus("x", EPERM).code(), Code::kPermissionDenied);
  EXPECT_EQ(errnoStatus("x", EMFILE).code(), Code::kResourceExhausted);
  EXPECT_EQ(errnoStatus("x", ENOMEM).code(), Code::kResourceExhausted);
  EXPECT_EQ(errnoStatus("x", EINVAL).code(), Code::kInvalidArgument);
  EXPECT_EQ(errnoStatus("x", EPIPE).code(), Code::kUnavailable);
  EXPECT_EQ(errnoStatus("x", ECONNREFUSED).code(), Code::kUnavailable);
  EXPECT_EQ(errnoStatus("x", EIO).code(), Code::kUnknown);
}

TEST(Result, HoldsAValueOrTheReasonForNone) {
  const Result<int> good = half(10);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good.value(), 5);
  const Result<int> bad = half(5);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.status(), invalidArgument("5 is odd"));
}

TEST(Result, CarriesValuesThatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(4));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 4);
}

TEST(Result, MacrosPassTheFirstFailureOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(7).status().message(), "7 is odd");
  EXPECT_EQ(quarter(6).status().message(), "3 is odd");
  int checked = 0;
  EXPECT_EQ(bothPositive(1, 0, checked).code(), Code::kOutOfRange);
  EXPECT_EQ(checked, 1);
  EXPECT_TRUE(bothPositive(1, 2, checked).ok());
}

TEST(ResultDeathTest, ReadingTheValueOfAFailureIsOurBug) {
  EXPECT_DEATH(static_cast<void>(half(5).value()), "internal error.*ok\\(\\)");
}

}  // namespace
}  // namespace pop
