# SPDX-License-Identifier: Apache-2.0
"""Calls of every kind that MPI has, by mpi4py: each rank checks each result, and rank 0 says how many there were."""
import os
import sys
import tempfile

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        print(f"rank {rank}: {what}", file=sys.stderr)
        world.Abort(3)


def collectives(comm):
    me, ranks = comm.Get_rank(), comm.Get_size()
    for dtype in ("i4", "i8", "f4", "f8"):
        for count in (0, 1, 7, 1000, 70000):
            mine = numpy.arange(count, dtype=dtype) + me
            total = numpy.empty_like(mine)
            comm.Allreduce(mine, total, op=MPI.SUM)
            check((total == ranks * numpy.arange(count, dtype=dtype) + sum(range(ranks))).all(), "Allreduce")
            comm.Allreduce(mine, total, op=MPI.MAX)
            check((total == numpy.arange(count, dtype=dtype) + ranks - 1).all(), "Allreduce of MAX")
            for root in range(ranks):
                copy = mine.copy()
                comm.Bcast(copy, root=root)
                check((copy == numpy.arange(count, dtype=dtype) + root).all(), "Bcast")
                comm.Reduce(mine, total, op=MPI.MIN, root=root)
                check(me != root or (total == numpy.arange(count, dtype=dtype)).all(), "Reduce")
            everybody = numpy.empty((ranks, count), dtype=dtype)
            comm.Allgather(mine, everybody)
            check(all((everybody[r] == numpy.arange(count, dtype=dtype) + r).all() for r in range(ranks)), "Allgather")
            table = numpy.tile(mine, (ranks, 1)) * 2
            comm.Alltoall(table.copy(), everybody)
            twice = [2 * (numpy.arange(count, dtype=dtype) + r) for r in range(ranks)]
            check(all((everybody[r] == twice[r]).all() for r in range(ranks)), "Alltoall")
            comm.Scan(mine, total, op=MPI.SUM)
            check((total == (me + 1) * numpy.arange(count, dtype=dtype) + sum(range(me + 1))).all(), "Scan")
            request = comm.Iallreduce(mine, total, op=MPI.SUM)
            request.Wait()
            check((total == ranks * numpy.arange(count, dtype=dtype) + sum(range(ranks))).all(), "Iallreduce")
    counts = [r + 1 for r in range(ranks)]
    gathered = numpy.empty(sum(counts), dtype="i4")
    comm.Allgatherv(numpy.full(me + 1, me, dtype="i4"), [gathered, counts])
    check((gathered == numpy.repeat(numpy.arange(ranks), counts)).all(), "Allgatherv")
    check(comm.allgather({"rank": me}) == [{"rank": r} for r in range(ranks)], "allgather of objects")
    check(comm.bcast("text" if me == 0 else None, root=0) == "text", "bcast of an object")
    check(comm.allreduce([me]) == list(range(ranks)), "allreduce of objects")
    comm.Barrier()


def messages(comm):
    me, ranks = comm.Get_rank(), comm.Get_size()
    right, left = (me + 1) % ranks, (me - 1) % ranks
    for count in (0, 1, 1000, 100000, 2000000):
        out = numpy.full(count, me, dtype="i4")
        into = numpy.empty(count, dtype="i4")
        comm.Sendrecv(out, right, 5, into, left, 5)
        check((into == left).all(), "Sendrecv")
        requests = [comm.Isend(out, right, 6), comm.Irecv(into, left, 6)]
        MPI.Request.Waitall(requests)
        check((into == left).all(), "Isend and Irecv")
    pending = comm.isend({"from": me}, right, 7)
    status = MPI.Status()
    message = comm.mprobe(MPI.ANY_SOURCE, 7, status)
    check(message.recv() == {"from": left} and status.Get_source() == left, "mprobe")
    pending.wait()


def windows(comm):
    me, ranks = comm.Get_rank(), comm.Get_size()
    window = MPI.Win.Allocate(ranks * 8, 8, comm=comm)
    memory = numpy.ndarray(buffer=window.tomemory(), dtype="i8", shape=(ranks,))
    memory[:] = 0
    window.Fence()
    for target in range(ranks):
        window.Put(numpy.array([me + 1], dtype="i8"), target, target=me)
    window.Fence()
    check((memory == numpy.arange(ranks) + 1).all(), "Put")
    comm.Barrier()  # before others change it
    window.Accumulate(numpy.array([1], dtype="i8"), 0, target=0, op=MPI.SUM)
    window.Fence()
    check(me != 0 or memory[0] == 1 + ranks, "Accumulate")
    window.Free()


def files(comm):
    path = comm.bcast(tempfile.mktemp() if comm.Get_rank() == 0 else None)
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    mine = numpy.full(1000, comm.Get_rank(), dtype="i4")
    file.Write_at_all(comm.Get_rank() * 4000, mine)
    file.Sync()
    comm.Barrier()
    other = (comm.Get_rank() + 1) % comm.Get_size()
    read = numpy.empty(1000, dtype="i4")
    file.Read_at_all(other * 4000, read)
    check((read == other).all(), "Read_at_all")
    file.Close()
    if comm.Get_rank() == 0:
        os.unlink(path)


collectives(world)
messages(world)
files(world)
for color in (0, 1):
    half = world.Split(rank % 2, -rank)
    collectives(half)
    messages(half)
    half.Free()
cart = world.Create_cart([size], periods=[True])
check(cart.Shift(0, 1) == ((rank - 1) % size, (rank + 1) % size), "Create_cart")
shared = world.Split_type(MPI.COMM_TYPE_SHARED)
check(shared.Get_size() <= size, "Split_type")
windows(shared)  # Open MPI 4 with threads has none over TCP
if rank == 0:
    print(f"{checks} checks with {size} ranks")
