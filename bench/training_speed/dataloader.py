# SPDX-License-Identifier: Apache-2.0
# PyTorch's DataLoader on a file of popdist records of one tensor of bytes: prints GB/s of its second epoch.
#   dataloader.py FILE SAMPLE_BYTES BATCH WORKERS
import os
import sys
import time

import torch

path, sample_bytes, batch, workers = sys.argv[1], *map(int, sys.argv[2:5])
torch.set_num_threads(1)


class Records(torch.utils.data.Dataset):
    """The header fills whole pages; the records are at the file's end."""

    def __init__(self):
        size = os.path.getsize(path)
        mapped = torch.from_file(path, shared=False, size=size, dtype=torch.uint8)
        self.count = (size - 4096) // sample_bytes
        self.records = mapped[size - self.count * sample_bytes:].view(self.count, sample_bytes)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.records[index]


loader = torch.utils.data.DataLoader(Records(), batch_size=batch, shuffle=True, drop_last=True, num_workers=workers,
                                     persistent_workers=workers > 0)
for epoch in range(2):
    begin = time.perf_counter()
    read = 0
    for element in loader:
        read += element.numel()
    seconds = time.perf_counter() - begin
print(read / seconds / 1e9)
