# SPDX-License-Identifier: Apache-2.0
"""The peer of examples/fashion_mnist: the same network, data, batch and optimizer, by DistributedDataParallel on Gloo.

usage: ddp.py EPOCHS     as one of several processes of 64 samples a step, whose RANK, WORLD_SIZE, MASTER_ADDR and
                         MASTER_PORT the launcher sets
       ddp.py --blas     prints the file of the BLAS that PyTorch computes with
Prints the example's lines. All images are kept as floats, so that no time of an epoch goes into conversions.
"""
import gzip
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when it is loaded; processes have a core each

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

DATA = "/usr/share/datasets/fashion-mnist/"
BATCH = 64
LEARNING_RATE, MOMENTUM = 0.1, 0.9


def blas() -> str:
    with open("/proc/self/maps", encoding="ascii") as maps:
        files = {line.split()[-1] for line in maps}
    return " ".join(sorted(file for file in files if "blas" in file.rpartition("/")[2]))


def read(part: str):
    with gzip.open(f"{DATA}{part}-images-idx3-ubyte.gz") as file:
        images = torch.frombuffer(bytearray(file.read()[16:]), dtype=torch.uint8).reshape(-1, 784) / 255.0
    with gzip.open(f"{DATA}{part}-labels-idx1-ubyte.gz") as file:
        labels = torch.frombuffer(bytearray(file.read()[8:]), dtype=torch.uint8).long()
    return images, labels


def train_epoch(model, optimizer, images, labels, epoch: int, epochs: int) -> float:
    """Returns the mean loss of this rank's samples."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    steps = len(labels) // (BATCH * ranks)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))[rank::ranks]
    total = torch.zeros(())
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - (epoch * steps + step) / (epochs * steps))
        batch = order[step * BATCH:(step + 1) * BATCH]
        optimizer.zero_grad()
        loss = cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return (total / steps).item()


def main() -> None:
    epochs = int(sys.argv[1])
    torch.set_num_threads(1)
    torch.manual_seed(42)
    dist.init_process_group("gloo")
    ranks = dist.get_world_size()
    images, labels = read("train")
    test_images, test_labels = read("t10k")
    network = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    model = DistributedDataParallel(network, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
    for epoch in range(epochs):
        dist.barrier()
        begin = time.perf_counter()
        loss = train_epoch(model, optimizer, images, labels, epoch, epochs)
        seconds = time.perf_counter() - begin
        with torch.no_grad():
            accuracy = (network(test_images).argmax(1) == test_labels).float().mean().item()
        if dist.get_rank() == 0:
            samples = len(labels) // (BATCH * ranks) * BATCH * ranks
            print(f"epoch {epoch + 1}/{epochs}: loss {loss:.4f}, test accuracy {100 * accuracy:.2f} %, "
                  f"{samples / seconds:.0f} samples/s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1:] == ["--blas"]:
        print(blas())
    else:
        main()
