// SPDX-License-Identifier: Apache-2.0
// A rank of an MPI; compiled once for each.
#include <mpi.h>

#include "bench/collectives_speed/ranks/protocol.h"

namespace pop::bench::collectives {
namespace {

// MPI ends the job when one of its calls fails: that is its default.
class MpiMember : public Member {
 public:
  MpiMember() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void allReduce(void* data, std::size_t count) override {
    MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  void broadcast(void* data, std::size_t count, int root) override {
    MPI_Bcast(data, static_cast<int>(count), MPI_FLOAT, root, MPI_COMM_WORLD);
  }
  void allGather(const void* in, void* out, std::size_t count) override {
    const int n = static_cast<int>(count);
    MPI_Allgather(in, n, MPI_FLOAT, out, n, MPI_FLOAT, MPI_COMM_WORLD);
  }
  void* reduceScatter(void* in, void* out, std::size_t count) override {
    MPI_Reduce_scatter_block(in, out, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return out;
  }
  void allToAll(const void* in, void* out, std::size_t count) override {
    const int n = static_cast<int>(count);
    MPI_Alltoall(in, n, MPI_FLOAT, out, n, MPI_FLOAT, MPI_COMM_WORLD);
  }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace
}  // namespace pop::bench::collectives

int main(int argc, char** argv) {
  const auto task = pop::bench::collectives::taskFrom(argc, argv);
  MPI_Init(&argc, &argv);
  pop::bench::collectives::MpiMember member;
  pop::bench::collectives::measure(member, task);
  MPI_Finalize();
}
