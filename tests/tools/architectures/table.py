"""The architectures by name: each function of the rooms that is not private makes one."""

from inspect import isfunction

from tools.architectures import architecture, detection, language, messages, points, search, series, small, vision

ROOMS = (search, small, points, messages, language, vision, detection, series)
ARCHITECTURES = {
    name: make
    for room in ROOMS
    for name, make in vars(room).items()
    if isfunction(make) and not name.startswith("_") and name not in vars(architecture)
}
