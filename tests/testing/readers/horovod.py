# SPDX-License-Identifier: Apache-2.0
# Reads the environment as Horovod's GlooContext does (horovod/common/gloo/gloo_context.cc), and checks what its
# topology is made of: local, and across hosts. Rank 0 serves the rendezvous, which poprun does not.
import os

from meeting import meet


def number(name: str, default: int) -> int:
    return int(os.environ.get(name, default))


rank, size = number("HOROVOD_RANK", 0), number("HOROVOD_SIZE", 1)
local_rank, local_size = number("HOROVOD_LOCAL_RANK", 0), number("HOROVOD_LOCAL_SIZE", 1)
cross_rank, cross_size = number("HOROVOD_CROSS_RANK", 0), number("HOROVOD_CROSS_SIZE", 1)
assert size > 1, "a default: the variable is not there"
assert 0 <= rank < size and 0 <= local_rank < local_size and 0 <= cross_rank < cross_size
assert local_size * cross_size == size, "the same number of instances on each host"
assert cross_rank * local_size + local_rank == rank, "neighbours are on the same host"
assert os.environ["HOROVOD_HOSTNAME"]
assert os.environ["HOROVOD_CONTROLLER"] == os.environ["HOROVOD_CPU_OPERATIONS"] == "gloo"
meet(os.environ["HOROVOD_GLOO_RENDEZVOUS_ADDR"], number("HOROVOD_GLOO_RENDEZVOUS_PORT", -1), rank, size)
print(f"horovod {rank} of {size}, local {local_rank} of {local_size}, cross {cross_rank} of {cross_size}")
