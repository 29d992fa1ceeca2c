# SPDX-License-Identifier: Apache-2.0
# Reads the environment as jax.distributed.initialize does (jax/_src/distributed.py and clusters/): the coordinator's
# address is its own variable; number and index are the caller's arguments, here from JAX_NUM_PROCESSES and
# JAX_PROCESS_ID. With local devices not given JAX looks for clusters that it knows, and must find none.
import os
import socket

from meeting import meet


def open_mpi_is_present() -> bool:
    """clusters/ompi_cluster.py: Open MPI 4 by its daemon's address, Open MPI 5 by its ranks alone."""
    if "OMPI_MCA_orte_hnp_uri" in os.environ:
        return True
    names = ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
    if not all(name in os.environ for name in names):
        return False
    try:
        return int(os.environ.get("OMPI_VERSION", "").split(".", maxsplit=1)[0]) >= 5
    except ValueError:
        return True


assert not open_mpi_is_present(), "JAX would ask for mpi4py"
assert "SLURM_JOB_ID" not in os.environ, "JAX would derive a coordinator from Slurm's nodes"

coordinator = os.environ["JAX_COORDINATOR_ADDRESS"]
num_processes, process_id = int(os.environ["JAX_NUM_PROCESSES"]), int(os.environ["JAX_PROCESS_ID"])
assert 0 <= process_id < num_processes
host, port = coordinator.rsplit(":", 1)
meet(host, int(port), process_id, num_processes, socket.AF_INET6)  # process 0 binds [::]:port
print(f"jax {process_id} of {num_processes}")
