# SPDX-License-Identifier: Apache-2.0
# PyTorch itself, from the environment alone: every rank adds its number, and all must have the sum.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
numbers = torch.tensor([rank + 1.0])
dist.all_reduce(numbers)
assert numbers.item() == size * (size + 1) / 2, numbers
print(f"rank {rank} of {size}, launched by torchrun's rules: {dist.is_torchelastic_launched()}", flush=True)
dist.destroy_process_group()
