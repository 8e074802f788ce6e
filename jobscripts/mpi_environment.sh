# What Open MPI needs on one machine, to be sourced: containers run as root, laptops have fewer cores than ranks, and a
# rank may own several threads. Schedulers' launchers bring their own settings; the sbatch script does not use this file.
#
# Yielding matters most: with more ranks than cores and without it, one reduction takes milliseconds instead of
# microseconds.
# shellcheck shell=bash
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1                       # Open MPI 4
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe      # the same for Open MPI 5
export OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
