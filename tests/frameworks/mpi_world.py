# SPDX-License-Identifier: Apache-2.0
# An MPI program without compiler or headers: mpi_world.py mpich|openmpi.
import ctypes
import sys

if sys.argv[1] == "mpich":
    mpi = ctypes.CDLL("libmpich.so.12", mode=ctypes.RTLD_GLOBAL)
    world = ctypes.c_int(0x44000000)  # MPI_COMM_WORLD of MPICH's ABI
else:
    mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
    world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
size = ctypes.c_int(-1)
assert mpi.MPI_Init(None, None) == 0
assert mpi.MPI_Comm_size(world, ctypes.byref(size)) == 0
assert mpi.MPI_Barrier(world) == 0
assert mpi.MPI_Finalize() == 0
print(f"{sys.argv[1]}: a world of {size.value}")
