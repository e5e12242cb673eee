"""Whether the device decodes a request that its decoder supports."""

import json
import sys

from tests.cuda.programs.image_codec.plans import plan

assert ("on_device" in plan()) == json.loads(sys.argv[1])
