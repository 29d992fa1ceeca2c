// SPDX-License-Identifier: Apache-2.0
// Watchers of the service Controller: each hears of each change, and none holds up the others.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/unit/popdistd/rpc/controller_fixture.h"

namespace pop::popdistd {
namespace {

TEST_F(ControllerTest, WatchesUntilTheClientGoes) {
  const auto stub = controller();
  grpc::ClientContext context;
  v1::WatchRequest request;
  request.set_since_revision(5);
  const auto reader = stub->Watch(&context, request);
  loop.run([this] { api.changes.push(changeOf(6)); });
  v1::Change change;
  ASSERT_TRUE(reader->Read(&change));
  EXPECT_EQ(change.revision(), 6U);
  EXPECT_EQ(loop.run([this] { return api.watches.front().since_revision(); }), 5U);
  loop.run([this] { api.changes.push(changeOf(7)); });
  ASSERT_TRUE(reader->Read(&change));
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(hasNoReaders());
}

// Messages that gRPC holds back in a stream that has just begun would come with a ping, 10 s later.
TEST_F(ControllerTest, SendsAtOnceWhatThereIsAtTheBeginning) {
  constexpr std::uint64_t kChanges = 3;
  loop.run([this] {
    for (std::uint64_t revision = 1; revision <= kChanges; ++revision) api.changes.push(changeOf(revision));
  });
  const auto stub = controller();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  const auto reader = stub->Watch(&context, {});
  v1::Change change;
  for (std::uint64_t revision = 1; revision <= kChanges; ++revision) {
    ASSERT_TRUE(reader->Read(&change)) << revision;
    EXPECT_EQ(change.revision(), revision);
  }
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(hasNoReaders());
}

// Each change comes to all of the 200 but one, who never reads.
TEST_F(ControllerTest, IsNotHeldUpByAWatcherThatDoesNotRead) {
  constexpr int kWatchers = 200;
  constexpr std::uint64_t kChanges = 100;
  const auto stub = controller();
  grpc::ClientContext idle_context;
  const auto idle = stub->Watch(&idle_context, {});
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::Change>>> readers;
  for (int i = 1; i < kWatchers; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(stub->Watch(contexts.back().get(), {}));
  }
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == kWatchers; }));
  for (std::uint64_t revision = 1; revision <= kChanges; ++revision) {
    loop.run([&] { api.changes.push(changeOf(revision, 1000)); });
    v1::Change change;
    for (const auto& reader : readers) {
      ASSERT_TRUE(reader->Read(&change));
      ASSERT_EQ(change.revision(), revision);
    }
  }
  idle_context.TryCancel();
  for (const auto& context : contexts) context->TryCancel();
  EXPECT_TRUE(hasNoReaders());
}

TEST_F(ControllerTest, KeepsLittleForAWatcherThatDoesNotRead) {
  constexpr std::uint64_t kChanges = 400;
  constexpr std::size_t kBytes = 256 * 1024;
  const auto stub = controller();
  grpc::ClientContext idle_context;
  const auto idle = stub->Watch(&idle_context, {});
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 1; }));
  const auto* const stopped = loop.run([this] { return *api.changes.readers().begin(); });
  const auto other = controller();
  grpc::ClientContext context;
  const auto reader = other->Watch(&context, {});
  v1::Change change;
  for (std::uint64_t revision = 1; revision <= kChanges; ++revision) {
    loop.run([&] { api.changes.push(changeOf(revision, kBytes)); });
    ASSERT_TRUE(reader->Read(&change));
  }
  EXPECT_LT(loop.run([&] { return stopped->position(); }), kChanges / 4);
  idle_context.TryCancel();
  context.TryCancel();
  EXPECT_TRUE(hasNoReaders());
}

}  // namespace
}  // namespace pop::popdistd
