// SPDX-License-Identifier: Apache-2.0
// A small state of a training whose every byte tells where it belongs and of which step it is.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "popdist/checkpoint.hpp"
#include "popdist/error.hpp"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_group.h"

namespace popdist::train::testing {

/// A directory in memory, where there is one: a disk takes tens of milliseconds for each of many fsync().
class QuickDir : public pop::testing::TempDir {
 public:
  QuickDir() : TempDir(std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "") {}
};

inline const Spec& stateSpec() {
  static const Spec spec{{"dense.w", Type::kFloat, {37, 5}}, {"adam.m/dense.w", Type::kFloat, {37, 5}},
                         {"dense.b", Type::kBfloat16, {5}},  {"mask", Type::kBool, {3}},
                         {"count", Type::kInt64, {}},        {"none", Type::kDouble, {0, 4}}};
  return spec;
}

inline Tensors stateOf(std::uint64_t step, const Spec& spec = stateSpec()) {
  Tensors state(spec);
  for (std::size_t tensor = 0; tensor < state.size(); ++tensor) {
    std::uint64_t at = step * 131 + tensor * 17;
    const std::uint64_t most = spec[tensor].type == Type::kBool ? 2 : 251;
    for (std::byte& byte : state.at(tensor).bytes()) byte = static_cast<std::byte>(at++ % most);
  }
  return state;
}

/// "" or the name of the first tensor that differs.
inline std::string difference(const Tensors& a, const Tensors& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto left = a.at(i).bytes();
    const auto right = b[a.spec()[i].name].bytes();
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end())) return a.spec()[i].name;
  }
  return "";
}

inline std::vector<Piece> shareOf(Tensors& state, const Context& context) {
  return train::shareOf(Piece::of(state), context.instanceIndex(), context.numInstances());
}

/// `instances` threads save stateOf(step), each its share.
inline void saveBy(int instances, const std::filesystem::path& directory, std::vector<std::uint64_t> steps,
                   int keep = 0) {
  popdist::testing::ThreadGroup(instances).run([&](Context& context) {
    Checkpoints checkpoints(context, {.directory = directory, .keep = keep});
    for (const std::uint64_t step : steps) {
      Tensors state = stateOf(step);
      checkpoints.save(shareOf(state, context), {.step = step, .epoch = 1, .samples = 64 * step, .seed = 7});
    }
    checkpoints.wait();
  });
}

/// That the newest checkpoint is of `step`, and holds stateOf(step).
inline void expectNewest(const std::filesystem::path& directory, std::uint64_t step) {
  const Checkpoint newest = Checkpoint::newest(directory);
  EXPECT_EQ(newest.position().step, step);
  Tensors loaded(stateSpec());
  newest.load(Piece::of(loaded));
  EXPECT_EQ(difference(loaded, stateOf(step)), "");
}

template <typename Call>
void expectError(const Call& call, ErrorCode code, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
  }
}

inline std::vector<std::string> namesIn(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace popdist::train::testing
