// SPDX-License-Identifier: Apache-2.0
// The smallest MPI program that depends on all of its ranks: sums their indices, and prints "rank K" if the sum is
// right.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum == ranks * (ranks - 1) / 2) printf("rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
