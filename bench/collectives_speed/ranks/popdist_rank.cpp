// SPDX-License-Identifier: Apache-2.0
// A rank of libpopdist.
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/collectives_speed/ranks/protocol.h"
#include "popdist/buffer.hpp"
#include "popdist/context.hpp"

namespace pop::bench::collectives {
namespace {

// VARIANT: "private" or "shared" memory, or "tcp", private memory over TCP.
class PopdistMember : public Member {
 public:
  PopdistMember(popdist::Type type, std::string_view variant)
      : type_(type), memory_is_shared_(variant == "shared") {}

  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  void* allocate(std::size_t bytes) override {
    return memory_is_shared_ ? popdist::allocateShared(context_, bytes) : Member::allocate(bytes);
  }
  void allReduce(void* data, std::size_t count) override { world_.allReduce(data, data, count, type_); }
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
  void barrier() override { world_.barrier(); }

 private:
  popdist::Context& context_ = popdist::Context::fromEnvironment();
  popdist::Communicator& world_ = context_.world();
  const popdist::Type type_;
  const bool memory_is_shared_;
};

// Makes sure that the variant "tcp" does not use shared memory, in case the library chose another transport.
void requireTcpConnection() {
  constexpr int kMostFds = 4096;
  for (int fd = 0; fd < kMostFds; ++fd) {
    int domain = 0;
    socklen_t size = sizeof(domain);
    const bool is_socket = ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0;
    if (is_socket && (domain == AF_INET || domain == AF_INET6)) return;
  }
  std::fputs("this libpopdist has not used TCP within a host\n", stderr);
  std::exit(1);
}

}  // namespace
}  // namespace pop::bench::collectives

int main(int argc, char** argv) {
  const auto task = pop::bench::collectives::taskFrom(argc, argv);
  pop::bench::collectives::PopdistMember member(task.type, task.variant);
  pop::bench::collectives::measure(member, task);
  if (std::string_view(task.variant) == "tcp") pop::bench::collectives::requireTcpConnection();
}
