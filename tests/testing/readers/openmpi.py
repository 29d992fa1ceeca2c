# SPDX-License-Identifier: Apache-2.0
# Reads the variables that Open MPI's mpirun documents for programs that are not MPI programs themselves.
import os

names = ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE", "NODE_RANK")
rank, size, local_rank, local_size, node_rank = (int(os.environ["OMPI_COMM_WORLD_" + name]) for name in names)
assert 0 <= rank < size and 0 <= local_rank < local_size <= size
assert node_rank == local_rank, "the rank on the node, over all jobs there"
assert int(os.environ["OMPI_UNIVERSE_SIZE"]) >= size
# What MPI itself looks for in mpirun's environment: with these MPI_Init would call a daemon that is not there.
pretended = [name for name in os.environ if name.startswith(("OMPI_MCA_", "PMIX_", "PMI_"))]
assert not pretended, pretended
print(f"openmpi {rank} of {size}, local {local_rank} of {local_size}")
