"""Use of a stream or an event that was destroyed."""

import json
import sys

from cuda.bindings import driver

from tests.cuda.calls import done, use_device

use_device()
stream = done(driver.cuStreamCreate(1))
event = done(driver.cuEventCreate(0))
gone = done(driver.cuEventCreate(0))
done(driver.cuStreamDestroy(stream))
done(driver.cuEventDestroy(gone))
arguments = {"cuStreamQuery": (stream,), "cuEventRecord": (event, stream), "cuEventQuery": (gone,)}
function = json.loads(sys.argv[1])
getattr(driver, function)(*arguments[function])
