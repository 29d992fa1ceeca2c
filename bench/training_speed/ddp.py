# SPDX-License-Identifier: Apache-2.0
"""The peer of examples/fashion_mnist: the same networks, data, batch and optimizer, by DistributedDataParallel on Gloo.

usage: ddp.py [--model NAME] EPOCHS    as one of several processes of 64 samples a step, whose RANK, WORLD_SIZE,
                                       MASTER_ADDR and MASTER_PORT the launcher sets
       ddp.py --blas                   prints the file of the BLAS that PyTorch computes with
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
MOMENTUM = 0.9


def dense(*sizes: int):
    layers = [nn.Linear(*pair) for pair in zip(sizes, sizes[1:])]
    return [part for layer in layers[:-1] for part in (layer, nn.ReLU())] + layers[-1:]


def block(channels: int, filters: int, padding: int):
    return [nn.Conv2d(channels, filters, 3, padding=padding), nn.ReLU(), nn.MaxPool2d(2)]


MODELS = {  # layers, and the learning rate at the start
    "mlp": (lambda: dense(784, 128, 10), 0.1),
    "cnn": (lambda: [nn.Unflatten(1, (1, 28, 28)), *block(1, 16, 1), *block(16, 32, 1), nn.Flatten(),
                     *dense(1568, 64, 10)], 0.1),
    "small-cnn": (lambda: [nn.Unflatten(1, (1, 28, 28)), *block(1, 8, 0), nn.Flatten(), *dense(1352, 8, 10)], 0.07),
}


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


def train_epoch(model, optimizer, rate: float, images, labels, epoch: int, epochs: int) -> float:
    """Returns the mean loss of this rank's samples."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    steps = len(labels) // (BATCH * ranks)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))[rank::ranks]
    total = torch.zeros(())
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * (1 - (epoch * steps + step) / (epochs * steps))
        batch = order[step * BATCH:(step + 1) * BATCH]
        optimizer.zero_grad()
        loss = cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return (total / steps).item()


def main() -> None:
    name = sys.argv[2] if sys.argv[1] == "--model" else "mlp"
    make, rate = MODELS[name]
    epochs = int(sys.argv[-1])
    torch.set_num_threads(1)
    torch.manual_seed(42)
    dist.init_process_group("gloo")
    ranks = dist.get_world_size()
    images, labels = read("train")
    test_images, test_labels = read("t10k")
    network = nn.Sequential(*make())
    model = DistributedDataParallel(network, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=MOMENTUM)
    for epoch in range(epochs):
        dist.barrier()
        begin = time.perf_counter()
        loss = train_epoch(model, optimizer, rate, images, labels, epoch, epochs)
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
