// SPDX-License-Identifier: Apache-2.0
// Small datasets whose elements tell which they are, and ways to read them in tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "popdist/error.hpp"
#include "popdist/io.hpp"

namespace popdist::io::testing {

/// Element i has "x" {i, i + 0.5} and "y" 3 * i. `before_read` may throw or block.
class CountingSource final : public Source {
 public:
  explicit CountingSource(std::uint64_t elements, std::function<void(std::uint64_t)> before_read = nullptr)
      : elements_(elements), before_read_(std::move(before_read)) {}

  const Spec& spec() const override { return spec_; }
  std::uint64_t size() const override { return elements_; }
  void read(std::uint64_t index, TensorRefs element) const override {
    if (before_read_) before_read_(index);
    element.get<float>("x")[0] = static_cast<float>(index);
    element.get<float>("x")[1] = static_cast<float>(index) + 0.5F;
    element.get<std::int32_t>("y")[0] = static_cast<std::int32_t>(3 * index);
  }

 private:
  Spec spec_{{"x", Type::kFloat, {2}}, {"y", Type::kInt32, {}}};
  std::uint64_t elements_;
  std::function<void(std::uint64_t)> before_read_;
};

inline Dataset counting(std::uint64_t elements, std::function<void(std::uint64_t)> before_read = nullptr) {
  return Dataset::fromSource(std::make_shared<CountingSource>(elements, std::move(before_read)));
}

/// The same elements as a sequence; `starts` counts passes that were begun.
inline Dataset countingSequence(std::uint64_t elements, std::shared_ptr<std::atomic<int>> starts = nullptr) {
  return Dataset::fromGenerator(CountingSource(0).spec(), [=](std::uint64_t) -> Generator {
    if (starts) ++*starts;
    return [=, next = std::uint64_t{0}](TensorRefs element) mutable {
      if (next == elements) return false;
      CountingSource(elements).read(next++, element);
      return true;
    };
  });
}

/// The elements of a counting dataset in these tensors, rows one after the other; checks their other values.
inline std::vector<int> elementsIn(const Tensors& tensors) {
  std::vector<int> elements;
  const auto x = tensors.get<float>("x");
  const auto y = tensors.get<std::int32_t>("y");
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(x[2 * i + 1], x[2 * i] + 0.5F);
    EXPECT_EQ(y[i], static_cast<std::int32_t>(3 * x[2 * i]));
    elements.push_back(static_cast<int>(x[2 * i]));
  }
  return elements;
}

/// The elements of a whole pass, read by index.
inline std::vector<int> passOf(const Dataset& dataset, std::uint64_t epoch = 0) {
  std::vector<int> elements;
  Tensors element(dataset.spec());
  for (std::uint64_t i = 0; dataset.read(epoch, i, element); ++i) {
    for (const int which : elementsIn(element)) elements.push_back(which);
  }
  return elements;
}

/// The elements of the rest of a pass of one replica.
inline std::vector<int> drain(Infeed& infeed, int replica = 0) {
  std::vector<int> elements;
  while (const Tensors* element = infeed.next(replica)) {
    for (const int which : elementsIn(*element)) elements.push_back(which);
  }
  return elements;
}

inline std::vector<int> upTo(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

inline void expectError(const std::function<void()>& call, ErrorCode code, const std::string& message) {
  try {
    call();
    ADD_FAILURE() << "expected an error: " << message;
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), ::testing::HasSubstr(message));
  }
}

}  // namespace popdist::io::testing
