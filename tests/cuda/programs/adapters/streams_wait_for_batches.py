"""Streams wait for batches."""

from tests.cuda.address_adapter import AddressAdapter
from tests.cuda.other_library import new_stream
from tests.cuda.programs.adapters.iterators import iterator, pipeline, readings, same, wanted
from tests.cuda.simulated_driver import control


class Forgets(AddressAdapter):
    # Says one stream, and uses another.
    def from_tensor(self, tensor):
        array = super().from_tensor(tensor)
        array.stream = others[tensor.device_id()]
        array.is_known = False
        return array


others = [new_stream(device) for device in range(2)]
expected = wanted(2, epochs=1)[0]
for adapter in (AddressAdapter(), AddressAdapter(has_streams=False)):
    batches = iter(iterator(2, adapter))
    control.set_delay(0.005)
    for stream in adapter.streams.values():
        control.set_delay(0.0, stream)
    assert same([readings(batch) for batch in batches], expected)
    control.set_delay(0.0)

for adapter, is_right in ((AddressAdapter(), True), (Forgets(), False)):
    pipelines = [pipeline(shard, 2, shard) for shard in range(2)]
    for each in pipelines:
        each.build()
    with control.held(*(each.output_stream().handle for each in pipelines)):
        given = readings(next(iterator(2, adapter, pipelines=pipelines)))
        if not is_right:
            assert not same([given], expected[:1])
    if is_right:
        assert same([given], expected[:1])
