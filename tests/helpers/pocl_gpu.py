"""The GPU plugin of OpenVINO without a GPU: it executes on PoCL, whose CPU a library before OpenCL calls a GPU.

The plugin takes any OpenCL device that is a GPU. It asks for the version of an Intel GPU, and its own sources, which it puts before
every kernel, use functions of subgroups, which PoCL lacks and our kernels do not call.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

_OPENCL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAL(name) ((__typeof__(name)*)dlsym(RTLD_NEXT, #name))
enum { TYPE = 0x1000, IP_VERSION_INTEL = 0x4250, GPU = 4, GEN_9 = 0x02400009 };

int clGetDeviceInfo(void* device, unsigned name, size_t size, void* value, size_t* needed) {
    if (name == IP_VERSION_INTEL) {
        if (value) memcpy(value, &(unsigned){GEN_9}, sizeof(unsigned));
        if (needed) *needed = sizeof(unsigned);
        return 0;
    }
    const int error = REAL(clGetDeviceInfo)(device, name, size, value, needed);
    if (!error && value && name == TYPE) memcpy(value, &(unsigned long){GPU}, sizeof(unsigned long));
    return error;
}

void* clCreateProgramWithSource(void* context, unsigned count, const char** sources, const size_t* sizes, int* error) {
    const char* all[65] = {"uint get_sub_group_local_id(void) { return 0; }\n"
                           "uint get_max_sub_group_size(void) { return 1; }\n"
                           "float __attribute__((overloadable)) sub_group_broadcast(float x, uint i) { return x; }\n"};
    size_t all_sizes[65] = {0};
    FILE* const log = fopen(getenv("SOURCES"), "ab");
    for (unsigned i = 0; i < count && i < 64; ++i) {
        all[i + 1] = sources[i];
        all_sizes[i + 1] = sizes && sizes[i] ? sizes[i] : strlen(sources[i]);
        fwrite(sources[i], 1, all_sizes[i + 1], log);
    }
    fclose(log);
    return REAL(clCreateProgramWithSource)(context, count + 1, all, all_sizes, error);
}
"""

_CHILD = r"""
import sys
from pathlib import Path
import numpy as np, openvino as ov

folder, config, *libraries = sys.argv[1:]
core = ov.Core()
core.set_property("GPU", {"CONFIG_FILE": config, "INFERENCE_PRECISION_HINT": "f32"})
for library in libraries:
    core.add_extension(library)
for path in sorted(Path(folder).glob("*.xml")):
    try:
        compiled = core.compile_model(core.read_model(path), "GPU")
        layers = [node.get_rt_info()["layerType"].astype(str) for node in compiled.get_runtime_model().get_ordered_ops()]
        print(path.stem, *layers)
        with np.load(path.with_suffix(".npz")) as cases:
            given = {}
            for key in cases:
                given.setdefault(key.split()[0], []).append(cases[key])
        np.savez(path.with_suffix(".out.npz"), **{case: compiled(arrays)[0] for case, arrays in given.items()})
    except RuntimeError as error:
        path.with_suffix(".error").write_text(str(error))
"""


class Plugin:
    """Executes models with the GPU plugin in a process of its own, on kernels of a configuration file."""

    def __init__(self, folder, config, libraries):
        import pyopencl  # finds PoCL, and brings an OpenCL library

        package = Path(pyopencl.__file__).parent
        (opencl,) = (package / ".libs").glob("libOpenCL*")
        (folder / "opencl.c").write_text(_OPENCL)
        command = ["gcc", "-shared", "-fPIC", "opencl.c", "-o", "libOpenCL.so.1", "-Wl,-soname,libOpenCL.so.1", "-Wl,--no-as-needed"]
        subprocess.run([*command, str(opencl), f"-Wl,-rpath,{opencl.parent}", "-ldl"], cwd=folder, check=True)
        self._folder, self._arguments = folder, [str(config), *map(str, libraries)]
        self.sources = folder / "sources.cl"
        self._environment = {
            **os.environ,
            "LD_LIBRARY_PATH": os.pathsep.join(map(str, (folder, opencl.parent))),
            "PYOPENCL_HOME": str(package),
            "POCL_CACHE_DIR": str(folder / "cache"),
            "SOURCES": str(self.sources),
        }

    def run(self, models):
        """Execute models, by name bytes of XML and weights and lists of inputs; return the lists of outputs, or the error."""
        for name, (xml, weights, cases) in models.items():
            (self._folder / f"{name}.xml").write_bytes(xml)
            (self._folder / f"{name}.bin").write_bytes(weights)
            arrays = {f"{case} {port}": array for case, given in enumerate(cases) for port, array in enumerate(given)}
            np.savez(self._folder / f"{name}.npz", **arrays)
        command = [sys.executable, "-c", _CHILD, str(self._folder), *self._arguments]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return {name: self._outputs(name, len(cases)) for name, (*_, cases) in models.items()}, done.stdout

    def _outputs(self, name, count):
        error = self._folder / f"{name}.error"
        if error.exists():
            return error.read_text()
        with np.load(self._folder / f"{name}.out.npz") as outputs:
            return [outputs[str(case)] for case in range(count)]
