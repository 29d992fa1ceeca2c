# SPDX-License-Identifier: Apache-2.0
"""Seconds that torch.save and fsync take for a state of so many MiB in 16 tensors, which stops a training for as long.

usage: torch_save.py DIRECTORY MIB ROUNDS
Prints one line for each round: seconds until torch.save has returned, and until fsync has.
"""
import os
import sys
import time

import torch


def main() -> None:
    directory, mib, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    state = {f"layer.{i}": torch.rand(mib * (1 << 20) // 4 // 16) for i in range(16)}
    path = os.path.join(directory, "state.pt")
    for _ in range(rounds):
        begin = time.perf_counter()
        with open(path, "wb") as file:
            torch.save(state, file)
            file.flush()
            saved = time.perf_counter()
            os.fsync(file.fileno())
        print(saved - begin, time.perf_counter() - begin, flush=True)
        os.unlink(path)


main()
