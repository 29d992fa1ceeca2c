// SPDX-License-Identifier: Apache-2.0
// A rank of Gloo, started by poprun. Uses TCP on the loopback interface, Gloo's only transport within a host,
// or on the interface named by BENCH_GLOO_INTERFACE. Ranks find each other through files in a directory of
// the job under TMPDIR.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/collectives_speed/ranks/protocol.h"
#include "popdist/context.hpp"

namespace pop::bench::collectives {
namespace {

std::shared_ptr<gloo::rendezvous::Context> connect() {
  const popdist::Context& instance = popdist::Context::fromEnvironment();
  const char* job = std::getenv("POPDIST_JOB_ID");
  const auto directory = std::filesystem::temp_directory_path() / ("gloo-" + std::string(job ? job : "0"));
  std::filesystem::create_directories(directory);
  gloo::rendezvous::FileStore store(directory);
  gloo::transport::tcp::attr interface;
  const char* const over_hosts = std::getenv("BENCH_GLOO_INTERFACE");
  interface.iface = over_hosts == nullptr ? "lo" : over_hosts;
  auto device = gloo::transport::tcp::CreateDevice(interface);
  auto context =
      std::make_shared<gloo::rendezvous::Context>(instance.instanceIndex(), instance.numInstances());
  context->connectFullMesh(store, device);
  return context;
}

// VARIANT chooses the algorithm of all-reduce: ring, bcube or halving.
class GlooMember : public Member {
 public:
  explicit GlooMember(std::string_view variant) : variant_(variant) {}

  int rank() const override { return context_->rank; }
  int size() const override { return context_->size; }

  void allReduce(void* data, std::size_t count) override {
    if (variant_ == "halving") {
      if (!halving_) {
        halving_ = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(
            context_, std::vector<float*>{static_cast<float*>(data)}, static_cast<int>(count));
      }
      halving_->run();
      return;
    }
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(variant_ == "bcube" ? gloo::AllreduceOptions::Algorithm::BCUBE
                                             : gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(static_cast<float*>(data), count);
    options.setReduceFunction([](void* to, const void* a, const void* b, std::size_t elements) {
      gloo::sum<float>(to, a, b, elements);
    });
    gloo::allreduce(options);
  }

  void broadcast(void* data, std::size_t count, int root) override {
    gloo::BroadcastOptions options(context_);
    options.setOutput(static_cast<float*>(data), count);
    options.setRoot(root);
    gloo::broadcast(options);
  }

  void allGather(const void* in, void* out, std::size_t count) override {
    gloo::AllgatherOptions options(context_);
    options.setInput(mutableFloats(in), count);
    options.setOutput(static_cast<float*>(out), count * static_cast<std::size_t>(size()));
    gloo::allgather(options);
  }

  void* reduceScatter(void* in, void*, std::size_t count) override {
    if (!reduce_scatter_) {
      const auto ranks = static_cast<std::size_t>(size());
      reduce_scatter_ = std::make_unique<gloo::ReduceScatterHalvingDoubling<float>>(
          context_, std::vector<float*>{static_cast<float*>(in)}, static_cast<int>(count * ranks),
          std::vector<int>(ranks, static_cast<int>(count)));
    }
    reduce_scatter_->run();
    return in;
  }

  void allToAll(const void* in, void* out, std::size_t count) override {
    const std::size_t all = count * static_cast<std::size_t>(size());
    gloo::AlltoallOptions options(context_);
    options.setInput(mutableFloats(in), all);
    options.setOutput(static_cast<float*>(out), all);
    gloo::alltoall(options);
  }

  void barrier() override {
    gloo::BarrierOptions options(context_);
    gloo::barrier(options);
  }

 private:
  static float* mutableFloats(const void* memory) {
    return const_cast<float*>(static_cast<const float*>(memory));
  }

  const std::shared_ptr<gloo::rendezvous::Context> context_ = connect();
  const std::string_view variant_;
  std::unique_ptr<gloo::Algorithm> halving_;  // of the one buffer that is measured
  std::unique_ptr<gloo::Algorithm> reduce_scatter_;
};

}  // namespace
}  // namespace pop::bench::collectives

int main(int argc, char** argv) {
  const auto task = pop::bench::collectives::taskFrom(argc, argv);
  pop::bench::collectives::GlooMember member(task.variant);
  pop::bench::collectives::measure(member, task);
}
