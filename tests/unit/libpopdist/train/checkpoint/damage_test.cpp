// SPDX-License-Identifier: Apache-2.0
// Damaged checkpoints: the error names tensor, file, what was expected and what was found.
#include <sys/stat.h>

#include <fstream>

#include "tests/testing/file_text.h"
#include "tests/unit/libpopdist/train/checkpoint/states.h"

namespace popdist::train {
namespace {

using pop::testing::fileText;
using popdist::testing::ThreadGroup;
using testing::expectError;
using testing::QuickDir;
using testing::saveBy;
using testing::stateOf;
using testing::stateSpec;

void rewrite(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void loadAll(const std::filesystem::path& directory) {
  Tensors loaded(stateSpec());
  Checkpoint::newest(directory).load(Piece::of(loaded));
}

class Damaged : public ::testing::Test {
 protected:
  Damaged() { saveBy(2, dir_.path(), {1}); }

  const QuickDir dir_;
  const std::filesystem::path shard_ = dir_ / "step-000001/shard-00001-of-00002.safetensors";
  const std::filesystem::path manifest_ = dir_ / "step-000001/manifest.json";
};

TEST_F(Damaged, EveryByteOfAFileIsChecked) {
  const std::string bytes = fileText(shard_);
  for (std::size_t at = 0; at < bytes.size(); at += 97) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    rewrite(shard_, damaged);
    expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss, shard_.string());
  }
}

TEST_F(Damaged, TensorAndChecksumsAreNamed) {
  std::string bytes = fileText(shard_);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  rewrite(shard_, bytes);
  expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss, "their checksum is ");
}

TEST_F(Damaged, TruncatedAndMissingFilesAreNamed) {
  const auto bytes = std::filesystem::file_size(shard_);
  std::filesystem::resize_file(shard_, bytes - 1);
  expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss,
              " has " + std::to_string(bytes - 1) + " bytes, expected " + std::to_string(bytes));
  std::filesystem::remove(shard_);
  expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss, shard_.string());
}

TEST_F(Damaged, TruncatedAndForeignManifestsAreNamed) {
  const std::string text = fileText(manifest_);
  rewrite(manifest_, text.substr(0, text.size() / 2));
  expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss, "cut off");
  rewrite(manifest_, "");
  expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss, manifest_.string());
  rewrite(manifest_, text);
  std::filesystem::rename(dir_ / "step-000001", dir_ / "step-000009");
  expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss, "another name");
}

// The pipe has no writer, and the device has no end.
TEST_F(Damaged, WhatIsNoRegularFileIsNamedAtOnce) {
  for (const std::filesystem::path& path : {shard_, manifest_}) {
    const std::string text = fileText(path);
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss, path.string());
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/dev/zero", path);
    expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss, "is not a regular file");
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    expectError([&] { loadAll(dir_.path()); }, ErrorCode::kDataLoss, path.string());
    std::filesystem::remove(path);
    rewrite(path, text);
  }
}

TEST_F(Damaged, DirectoriesWithoutManifestAreNoCheckpointsAndStay) {
  std::filesystem::remove(manifest_);
  EXPECT_TRUE(checkpointSteps(dir_.path()).empty());
  saveBy(1, dir_.path(), {2}, 1);
  EXPECT_TRUE(std::filesystem::exists(shard_));
}

TEST_F(Damaged, AllInstancesThrowIfOneCannotRead) {
  std::string bytes = fileText(shard_);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  rewrite(shard_, bytes);
  ThreadGroup(2).run([&](Context& context) {
    Tensors state = stateOf(0);
    Checkpoints checkpoints(context, {.directory = dir_.path()});
    std::vector<Piece> pieces;  // the damaged file is needed by instance 1 only
    if (context.instanceIndex() == 1) pieces = Piece::of(state);
    expectError([&] { checkpoints.resume(pieces); }, ErrorCode::kDataLoss, "instance 1: ");
  });
}

}  // namespace
}  // namespace popdist::train
