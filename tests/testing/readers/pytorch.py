# SPDX-License-Identifier: Apache-2.0
# Reads the environment as torch.distributed does for init_method env:// (torch/distributed/rendezvous.py) and as
# programs made for torchrun do (documentation of torch.distributed.elastic.run), and meets the others.
import os

from meeting import meet


def number(name: str) -> int:
    assert name in os.environ, f"environment variable {name} expected, but not set"
    return int(os.environ[name])


rank, size = number("RANK"), number("WORLD_SIZE")
local_rank, local_size = number("LOCAL_RANK"), number("LOCAL_WORLD_SIZE")
assert 0 <= rank < size and 0 <= local_rank < local_size <= size
assert 0 <= number("GROUP_RANK") < number("GROUP_WORLD_SIZE")
assert number("ROLE_RANK") < number("ROLE_WORLD_SIZE") <= size
assert number("TORCHELASTIC_RESTART_COUNT") >= 0
# The agent's store would have no listener: poprun has none.
assert os.environ.get("TORCHELASTIC_USE_AGENT_STORE", "False") != "True"
assert os.environ["TORCHELASTIC_RUN_ID"], "torch.distributed.is_torchelastic_launched() looks for it"
meet(os.environ["MASTER_ADDR"], number("MASTER_PORT"), rank, size)
print(f"pytorch {rank} of {size}, local {local_rank} of {local_size}")
