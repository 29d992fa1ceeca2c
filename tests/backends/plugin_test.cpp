// SPDX-License-Identifier: Apache-2.0
// The C face of a backend that is made of messages, over a fabric that fails.
#include <gtest/gtest.h>

#include <new>

#include "libpopdist/backends/messages/failure_note.h"
#include "popdist/types.hpp"

extern "C" const PopdistBackend* popdistBackend(std::uint32_t library_version);

namespace popdist::backends {
namespace {

// What has been told to the others of the group that is made next.
std::vector<Failure>* told = nullptr;

class FullMemoryFabric final : public Fabric {
 public:
  std::string address() const override { return ""; }
  pop::Status connect(const std::vector<std::string>&, Deadline) override { return {}; }
  bool trySend(int, const Frame&) override { throw std::bad_alloc(); }
  std::optional<Frame> front(int) override { return std::nullopt; }
  void pop(int) override {}
  bool allSent() override { return true; }
  void wait() override {}
  std::string broken(int) override { return ""; }
  void tell(std::span<const std::byte> note) override { told->push_back(failureOf(note).value()); }
  std::optional<std::vector<std::byte>> nextNote() override { return std::nullopt; }
};

TEST(MessagesPlugin, TellsTheOthersOfACallThatHasNoMemory) {
  std::vector<Failure> failures;
  told = &failures;
  const PopdistBackend& backend = *popdistBackend(kPopdistBackendVersion);
  const PopdistGroupInfo info{.rank = 0, .ranks = 2};
  void* group = nullptr;
  char address[8];
  std::size_t address_bytes = sizeof(address);
  PopdistStatus status{};
  backend.offer(&info, &group, address, &address_bytes, &status);
  ASSERT_EQ(status.code, 0) << status.message;

  const PopdistCall call{.operation = kPopdistBarrier,
                         .type = static_cast<std::uint32_t>(Type::kFloat),
                         .tensor = "",
                         .timeout_ms = 10'000};
  backend.run(group, &call, &status);
  EXPECT_EQ(status.code, static_cast<std::int32_t>(pop::Code::kResourceExhausted));
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures.front().status,
            pop::Status(pop::Code::kResourceExhausted, "rank 0 has given up: out of memory"));
  EXPECT_EQ(failures.front().peer_rank, 0);
  backend.destroy(group);
}

}  // namespace

const char* const kBackendName = "without memory";

pop::Result<std::unique_ptr<Fabric>> makeFabric(const PopdistGroupInfo&) {
  return std::unique_ptr<Fabric>(std::make_unique<FullMemoryFabric>());
}

}  // namespace popdist::backends
