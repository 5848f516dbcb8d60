// The compiled kernel as a Python module. kernels/native.py is its only caller: it has checked ranks, shapes and types.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>

#include "gather.hpp"

namespace nb = nanobind;
using namespace ov_gather;

namespace {

using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Output = nb::ndarray<nb::device::cpu>;

Gather describe(const Input& data, const Input& indices, size_t axis, const Output& output) {
    Gather gather{{}, static_cast<int64_t>(data.shape(axis)), data.stride(axis)};
    for (size_t i = 0; i < indices.ndim(); ++i)
        gather.loops.push_back({static_cast<int64_t>(indices.shape(i)), indices.stride(i),
                                i == axis ? 0 : data.stride(i), output.stride(i)});
    return gather;
}

template <typename Element>
int64_t with_index_type(const Gather& gather, const Input& data, const Input& indices, const Output& output) {
    const auto* from = static_cast<const Element*>(data.data());
    auto* to = static_cast<Element*>(output.data());
    nb::gil_scoped_release release;
    if (indices.dtype() == nb::dtype<int32_t>())
        return gather_elements(gather, from, static_cast<const int32_t*>(indices.data()), to);
    return gather_elements(gather, from, static_cast<const int64_t*>(indices.data()), to);
}

int64_t gather_elements_any(const Input& data, const Input& indices, size_t axis, const Output& output) {
    const Gather gather = describe(data, indices, axis, output);
    switch (data.itemsize()) {
        case 1: return with_index_type<uint8_t>(gather, data, indices, output);
        case 2: return with_index_type<uint16_t>(gather, data, indices, output);
        case 4: return with_index_type<uint32_t>(gather, data, indices, output);
        case 8: return with_index_type<uint64_t>(gather, data, indices, output);
        case 16: return with_index_type<Bytes16>(gather, data, indices, output);
        default: throw std::invalid_argument("element size must be 1, 2, 4, 8 or 16 bytes");
    }
}

}  // namespace

NB_MODULE(_native, module) {
    module.def("gather_elements", &gather_elements_any, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
               nb::arg("axis"), nb::arg("output").noconvert(),
               "Fill output; return -1, or the first position whose index is out of bounds.");
}
