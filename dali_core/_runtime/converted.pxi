# Part of executor.pyx: conversions between native code, Python and devices.


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


cdef int _use_in(TensorListGPU samples, object stream) except -1:
    """Let a stream wait for samples, whose memory is not free before the stream is past that."""
    if samples._ready is not None:
        stream.wait(samples._ready)
    # What another device uses is copied there, and kept until then.
    if not samples.samples.empty() and samples.samples[0].device == stream.device_id:
        record_stream(samples.samples, stream)
    return 0
