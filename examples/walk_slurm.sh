#!/bin/sh
# Lists a tree with job arrays, a round after the other: walk_slurm.sh TREE OUT.parquet [BUDGET [TASKS]]
# Paths without spaces; a task that fails ends the loop, and the same call begins anew.
set -eu
tree=$1 out=$2 budget=${3:-60s} tasks=${4:-8} round=0
rm -f "$out".[0-9]*
hedgerow walk --part --budget "$budget" -o "$out.0.1" --rest "$out.0.1.rest" "$tree" || [ $? = 3 ]
# The lists of this round that name a directory: the exit status of -L differs between versions of grep.
while left=$(grep -L '^end 0$' "$out.$round".*.rest || :) && [ -n "$left" ]; do
    round=$((round + 1))
    task="$out.$round.\$SLURM_ARRAY_TASK_ID"
    from=$(printf ' --from %s' $left)
    sbatch --quiet --wait --array="1-$tasks" --wrap "hedgerow walk --part --budget $budget --shard auto $from \
        -f -o $task --rest $task.rest $tree || [ \$? = 3 ]"
done
hedgerow walk --merge -f -o "$out" $(ls "$out".[0-9]* | grep -v '\.rest$')
