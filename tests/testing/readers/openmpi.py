# SPDX-License-Identifier: Apache-2.0
# Reads the variables that Open MPI's mpirun documents for programs that are not MPI programs themselves.
import os

names = ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE", "NODE_RANK")
rank, size, local_rank, local_size, node_rank = (int(os.environ["OMPI_COMM_WORLD_" + name]) for name in names)
assert 0 <= rank < size and 0 <= local_rank < local_size <= size
assert node_rank == local_rank, "the rank on the node, over all jobs there"
assert int(os.environ["OMPI_UNIVERSE_SIZE"]) >= size
print(f"openmpi {rank} of {size}, local {local_rank} of {local_size}")
