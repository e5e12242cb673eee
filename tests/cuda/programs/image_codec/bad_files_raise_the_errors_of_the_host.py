"""Bad files raise the errors of the host."""

import tests.cuda.programs.image_codec.files  # noqa: F401
from tests.cuda.programs.image_codec.bad_files import calls, message

for make in calls:
    on_host, on_device = (message(make, device) for device in ("cpu", "mixed"))
    assert on_host == on_device, (on_host, on_device)
