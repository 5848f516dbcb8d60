"""The GPU plugin of OpenVINO without a GPU: on PoCL, an OpenCL for CPUs, behind a library that calls its device a GPU."""

import os
import subprocess
from pathlib import Path

# The plugin takes every OpenCL device that is a GPU, and asks for the version of Intel's. The sources that it puts before each
# kernel call functions of subgroups, which PoCL 3.0 lacks. With queues out of order, some results were wrong.
_LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#define REAL(name) ((__typeof__(name)*)dlsym(RTLD_NEXT, #name))
enum { TYPE = 0x1000, IP_VERSION_INTEL = 0x4250 };
static const unsigned long gpu = 4;
static const unsigned gen_9 = 0x02400009;

int clGetDeviceInfo(void* device, unsigned name, size_t size, void* value, size_t* needed) {
    if (name == IP_VERSION_INTEL) {
        if (value) memcpy(value, &gen_9, sizeof(gen_9));
        if (needed) *needed = sizeof(gen_9);
        return 0;
    }
    const int error = REAL(clGetDeviceInfo)(device, name, size, value, needed);
    if (!error && value && name == TYPE) memcpy(value, &gpu, sizeof(gpu));
    return error;
}

void* clCreateProgramWithSource(void* context, unsigned count, const char** sources, const size_t* sizes, int* error) {
    const char* all[64] = {"uint get_sub_group_local_id(void) { return 0; }\n"
                           "uint get_max_sub_group_size(void) { return 1; }\n"
                           "float __attribute__((overloadable)) sub_group_broadcast(float x, uint i) { return x; }\n"};
    size_t all_sizes[64] = {0};  // 0: the string ends with a zero byte
    if (count > 63) return 0;
    memcpy(all + 1, sources, count * sizeof(*all));
    if (sizes) memcpy(all_sizes + 1, sizes, count * sizeof(*all_sizes));
    return REAL(clCreateProgramWithSource)(context, count + 1, all, all_sizes, error);
}

void* clCreateCommandQueueWithProperties(void* context, void* device, const void* properties, int* error) {
    return REAL(clCreateCommandQueueWithProperties)(context, device, 0, error);  // in order, whatever is asked for
}
"""


def environment(folder):
    """Return the environment in which a new process finds this GPU. Needs gcc and `pip install "pyopencl[pocl]"`."""
    import pyopencl

    package = Path(pyopencl.__file__).parent
    (opencl,) = (package / ".libs").glob("libOpenCL*")  # loads PoCL
    (folder / "opencl.c").write_text(_LIBRARY)
    options = ["-shared", "-fPIC", "-Wl,-soname,libOpenCL.so.1", "-Wl,--no-as-needed", f"-Wl,-rpath,{opencl.parent}"]
    subprocess.run(["gcc", "opencl.c", "-o", "libOpenCL.so.1", *options, opencl, "-ldl"], cwd=folder, check=True)
    paths = os.pathsep.join(map(str, (folder, opencl.parent)))
    return {**os.environ, "LD_LIBRARY_PATH": paths, "PYOPENCL_HOME": str(package), "POCL_CACHE_DIR": str(folder / "cache")}
