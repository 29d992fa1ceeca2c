// SPDX-License-Identifier: Apache-2.0
// A rank of libpopdist.
#include "bench/collectives_speed/ranks/protocol.h"
#include "popdist/context.hpp"

namespace pop::bench::collectives {
namespace {

class PopdistMember : public Member {
 public:
  explicit PopdistMember(popdist::Type type) : type_(type) {}

  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  void allReduce(void* data, std::size_t count) override { world_.allReduceSum(data, count, type_); }
  void broadcast(void* data, std::size_t count, int root) override {
    world_.broadcast(data, count, type_, root);
  }
  void allGather(const void* in, void* out, std::size_t count) override {
    world_.allGather(in, out, count, type_);
  }
  void* reduceScatter(void* in, void* out, std::size_t count) override {
    world_.reduceScatter(in, out, count, type_);
    return out;
  }
  void allToAll(const void* in, void* out, std::size_t count) override {
    world_.allToAll(in, out, count, type_);
  }
  void barrier() override { world_.synchronize(); }

 private:
  popdist::Communicator& world_ = popdist::Context::fromEnvironment().world();
  const popdist::Type type_;
};

}  // namespace
}  // namespace pop::bench::collectives

int main(int argc, char** argv) {
  const auto task = pop::bench::collectives::taskFrom(argc, argv);
  pop::bench::collectives::PopdistMember member(task.type);
  pop::bench::collectives::measure(member, task);
}
