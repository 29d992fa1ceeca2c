// SPDX-License-Identifier: Apache-2.0
// Measures how many pairs of CreatePartition and RemovePartition the daemon's core answers durably.
//   bench_daemon_partitions directory [seconds] [clients] [IPUs of each]
// The store is made in the directory; each client asks again when it has its answer. One JSON line.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/os/epoll_loop.h"
#include "popdistd/jobs/daemon_core.h"
#include "popdistd/store/sqlite_store.h"

namespace {

using pop::Result;
using Clock = std::chrono::steady_clock;

template <typename T>
T require(Result<T> result) {
  if (result.ok()) return std::move(result.value());
  std::fprintf(stderr, "bench_daemon_partitions: %s\n", result.status().message().c_str());
  std::exit(1);
}

class Client {
 public:
  Client(pop::popdistd::VipuApi& api, int number, std::uint32_t size, std::int64_t& pairs)
      : api_(api), pairs_(pairs) {
    created_.mutable_requirements()->set_id("p" + std::to_string(number));
    created_.mutable_requirements()->set_size(size);
    removed_.set_partition_id(created_.requirements().id());
  }

  void create() {
    api_.createPartition(kCaller, created_, [this](Result<virmgrpc::CreatePartitionReply> reply) {
      require(std::move(reply));
      remove();
    });
  }

 private:
  void remove() {
    api_.removePartition(kCaller, removed_, [this](Result<virmgrpc::RemovePartitionReply> reply) {
      require(std::move(reply));
      ++pairs_;
      create();
    });
  }

  static inline const pop::popdistd::Caller kCaller{"bench", ""};
  pop::popdistd::VipuApi& api_;
  virmgrpc::CreatePartitionRequest created_;
  virmgrpc::RemovePartitionRequest removed_;
  std::int64_t& pairs_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_daemon_partitions directory [seconds] [clients] [IPUs of each]\n");
    return 2;
  }
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 5;
  const int clients = argc > 3 ? std::atoi(argv[3]) : 50;
  const int size = argc > 4 ? std::atoi(argv[4]) : 1;
  const auto store = require(pop::popdistd::SqliteStore::open(argv[1]));
  pop::os::EpollLoop loop;
  const auto core = require(pop::popdistd::DaemonCore::start(
      loop, *store, {.random_name = [] { return std::string("bench"); }, .version = "0.1.0"}));
  if (const pop::Status made = core->pods().addDefaultInventory("localhost"); !made.ok()) {
    std::fprintf(stderr, "bench_daemon_partitions: %s\n", made.message().c_str());
    return 1;
  }
  std::int64_t pairs = 0;
  std::vector<std::unique_ptr<Client>> all;
  for (int number = 0; number < clients; ++number)
    all.push_back(
        std::make_unique<Client>(core->pods().vipu(), number, static_cast<std::uint32_t>(size), pairs));
  for (const auto& client : all) client->create();
  const Clock::time_point begin = Clock::now();
  loop.postAfter(std::chrono::seconds(seconds), [&] { loop.stop(); });
  loop.run();
  const std::chrono::duration<double> taken = Clock::now() - begin;
  std::printf(R"({"benchmark": "daemon_partitions", "clients": %d, "ipus": %d, "pairs_per_second": %.0f})"
              "\n",
              clients, size, static_cast<double>(pairs) / taken.count());
  return 0;
}
