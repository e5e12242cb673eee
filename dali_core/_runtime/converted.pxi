# Part of executor.pyx: what native code and Python hand to each other.


cdef engine.ReaderRun _native_run(object described) except *:
    cdef engine.ReaderRun run
    run.epoch, run.first, run.length, run.step = described.run
    run.is_absent = described.is_absent
    if isinstance(described.order, ListedOrder):
        run.listed_order = (<ListedOrder>described.order).indices
    elif described.order is not None:
        run.order_first, run.order_size, run.order_seed = described.order
    if described.shard is not None:
        run.shard_first, run.shard_size = described.shard.start, len(described.shard)
        run.shard_step = described.shard.step
    return run


cdef list _described(vector[engine.SampleFailure] failures):
    return [
        (failure.sample, failure.node, printable(failure.message.decode(errors="replace")),
         failure.source.decode(errors="surrogateescape"))
        for failure in failures
    ]
