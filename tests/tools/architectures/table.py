"""The architectures by name."""

from tools.architectures import detection, language, points, search, series, vision

ROOMS = (search, points, language, vision, detection, series)
ARCHITECTURES = {build.__name__: build for room in ROOMS for build in room.ARCHITECTURES}
