# SPDX-License-Identifier: Apache-2.0
# Reads Slurm's task variables as srun documents them, and checks that nothing claims to be a job of Slurm's.
import os

names = ("PROCID", "LOCALID", "NTASKS", "NPROCS", "NODEID", "NNODES")
procid, localid, ntasks, nprocs, nodeid, nnodes = (int(os.environ["SLURM_" + name]) for name in names)
assert 0 <= procid < ntasks == nprocs and 0 <= localid <= procid
assert 0 <= nodeid < nnodes <= ntasks
pretended = [name for name in os.environ
             if name.startswith(("SLURM_STEP", "SLURM_JOB")) or name in ("SLURM_NODELIST", "SLURMD_NODENAME")]
assert not pretended, pretended
print(f"slurm {procid} of {ntasks}, local {localid}, node {nodeid} of {nnodes}")
