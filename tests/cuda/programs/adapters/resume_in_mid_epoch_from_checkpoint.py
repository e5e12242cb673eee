"""Resume in mid epoch from checkpoint."""

import json

from tests.cuda.address_adapter import AddressAdapter
from tests.cuda.programs.adapters.iterators import iterator, readings, same, wanted
from tests.rest_of_epoch import rest_of_epoch

batches = iterator(2, AddressAdapter())
for _ in range(3):
    next(batches)
state = json.dumps(batches.state_dict())
rest = [readings(batch) for batch in rest_of_epoch(batches)]
resumed = iterator(2, AddressAdapter())
resumed.load_state_dict(json.loads(state))
again = [readings(batch) for batch in resumed]
assert len(rest) == len(again) == len(wanted(2, 1)[0]) - 3
expected = wanted(2, epochs=1)[0][3:]
assert same(rest, expected)
assert same(again, expected)
