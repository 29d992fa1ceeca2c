// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/thread_group.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "common/base/check.h"
#include "common/contract/segment.h"
#include "libpopdist/collectives/api/context_impl.h"

namespace popdist::testing {
namespace {

class Crew {
 public:
  explicit Crew(int threads) : done_(static_cast<std::size_t>(threads), false) {}

  void finished(int thread) {
    const std::lock_guard lock(mutex_);
    done_[static_cast<std::size_t>(thread)] = true;
    ++done_count_;
    changed_.notify_all();
  }

  void failed(std::exception_ptr exception) {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::move(exception);
  }

  void awaitAll() {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kJoinDeadline, [this] { return done_count_ == done_.size(); })) return;
    for (std::size_t thread = 0; thread < done_.size(); ++thread) {
      if (!done_[thread]) std::fprintf(stderr, "thread %zu of %zu has not returned\n", thread, done_.size());
    }
    std::abort();
  }

  std::exception_ptr first() const { return first_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> done_;
  std::size_t done_count_ = 0;
  std::exception_ptr first_;
};

std::string textOf(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

}  // namespace

void runThreads(int threads, const std::function<void(int)>& body,
                const std::function<void(int, const std::string&)>& on_exception) {
  Crew crew(threads);
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      try {
        body(thread);
      } catch (...) {
        crew.failed(std::current_exception());
        if (on_exception) on_exception(thread, textOf(std::current_exception()));
      }
      crew.finished(thread);
    });
  }
  crew.awaitAll();
  running.clear();
  if (crew.first()) std::rethrow_exception(crew.first());
}

ThreadGroup::ThreadGroup(int instances)
    : ThreadGroup(
          GroupShape{.replicas_of_instance = std::vector<int>(static_cast<std::size_t>(instances), 1)}) {}

ThreadGroup::ThreadGroup(GroupShape shape) : shape_(std::move(shape)) {
  const auto bytes = shape_.segment_bytes > 0
                         ? shape_.segment_bytes
                         : pop::contract::segmentBytesFor(static_cast<std::size_t>(instances()));
  auto hub = context::MemoryHub::create(instances(), bytes);
  POP_CHECK(hub.ok());
  hub_ = std::move(*hub);
}

void ThreadGroup::run(const Body& body) {
  runThreads(
      instances(), [&](int instance) { runInstance(instance, body); },
      [this](int instance, const std::string& what) {
        end(instance, false, "instance " + std::to_string(instance) + " threw: " + what);
      });
}

void ThreadGroup::runInstance(int instance, const Body& body) {
  const auto first = shape_.replicas_of_instance.begin();
  const auto own = first + instance;
  pop::contract::InstanceEnv env;
  env.num_total_replicas = std::accumulate(first, shape_.replicas_of_instance.end(), 0);
  env.num_ipus_per_replica = shape_.ipus_per_replica;
  env.num_local_replicas = *own;
  env.uniform_replicas = env.num_total_replicas == *own * instances();
  env.replica_index_offset = std::accumulate(first, own, 0);
  env.num_instances = env.num_local_instances = instances();
  env.instance_index = env.local_instance_index = instance;
  if (const int per_host = shape_.instances_per_host; per_host > 0) {
    env.local_instance_index = instance % per_host;
    env.num_local_instances = std::min(per_host, instances() - instance / per_host * per_host);
  }
  env.system = shape_.system;
  env.offline = shape_.offline;
  Context context(
      std::make_unique<Context::Impl>(env, std::make_unique<context::MemoryLink>(hub_), shape_.transport));
  context.setTimeout(shape_.timeout);
  body(context);
}

}  // namespace popdist::testing
