// Checks of the arguments of the Python module. The kernel takes "plain" arrays only (`is_movable`).
#pragma once

#include <nanobind/nanobind.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace {

namespace nb = nanobind;

inline PyArrayObject* array_of(nb::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

// Return the array, or null if an object is none or of a subclass.
inline PyArrayObject* exact_array(nb::handle object) { return PyArray_CheckExact(object.ptr()) ? array_of(object) : nullptr; }

// Strides of an array. NumPy allows any stride along dimensions of size 0 or 1; these are normalized to dense ones.
class Strides {
public:
    explicit Strides(PyArrayObject* array) {
        npy_intp dense = PyArray_ITEMSIZE(array);
        for (int i = PyArray_NDIM(array); i-- > 0; dense *= PyArray_DIM(array, i))
            m_strides[i] = PyArray_DIM(array, i) > 1 ? PyArray_STRIDE(array, i) : dense;
    }

    npy_intp operator[](size_t i) const { return m_strides[i]; }

private:
    npy_intp m_strides[NPY_MAXDIMS];
};

// Return true if an array is plain: elements can be moved as bytes, at addresses and strides that are multiples of their size.
inline bool is_movable(PyArrayObject* array) {
    const npy_intp size = PyArray_ITEMSIZE(array);
    if (size == 0 || size > 16 || (size & (size - 1)) != 0 || PyDataType_REFCHK(PyArray_DESCR(array))) return false;
    const npy_intp alignment = size < 16 ? size : 8;
    npy_intp low_bits = reinterpret_cast<npy_intp>(PyArray_DATA(array)) & (alignment - 1);
    for (int i = 0; i < PyArray_NDIM(array); ++i)
        if (PyArray_DIM(array, i) > 1) low_bits |= PyArray_STRIDE(array, i) & (size - 1);
    return low_bits == 0 || PyArray_SIZE(array) == 0;
}

// Return true if strides are nested, so that no two elements share memory. Elements of other arrays may be distinct, too.
inline bool is_nested(PyArrayObject* array) {
    if (PyArray_IS_C_CONTIGUOUS(array)) return true;
    std::array<std::pair<npy_intp, npy_intp>, NPY_MAXDIMS> steps;
    auto end = steps.begin();
    for (int i = 0; i < PyArray_NDIM(array); ++i)
        if (PyArray_DIM(array, i) > 1) *end++ = {std::abs(PyArray_STRIDE(array, i)), PyArray_DIM(array, i)};
    std::sort(steps.begin(), end);
    npy_intp reach = PyArray_ITEMSIZE(array);
    for (auto step = steps.begin(); step != end; ++step) {
        if (step->first < reach) return false;
        reach += step->first * (step->second - 1);
    }
    return true;
}

inline bool is_index(PyArrayObject* array) {
    const PyArray_Descr* type = PyArray_DESCR(array);
    return type->kind == 'i' && PyArray_ITEMSIZE(array) >= 4 && PyArray_ISNBO(type->byteorder) && is_movable(array);
}

// Return the addresses of the first byte and past the last byte of an array.
inline std::pair<const char*, const char*> extent(PyArrayObject* array) {
    const char *low = PyArray_BYTES(array), *high = low + PyArray_ITEMSIZE(array);
    for (int i = 0; i < PyArray_NDIM(array); ++i) {
        const npy_intp span = (PyArray_DIM(array, i) - 1) * PyArray_STRIDE(array, i);
        (span < 0 ? low : high) += span;
    }
    return {low, high};
}

inline bool may_overlap(PyArrayObject* one, PyArrayObject* other) {
    if (PyArray_SIZE(one) == 0 || PyArray_SIZE(other) == 0) return false;
    const auto a = extent(one), b = extent(other);
    return a.first < b.second && b.first < a.second;
}

// Return `out`, or a new array of this shape and data's dtype; None if `out` is not plain or does not fit.
inline nb::object output_for(nb::handle out, PyArrayObject* data, PyArrayObject* indices, int rank, npy_intp const* shape) {
    if (out.is_none()) {
        PyArray_Descr* type = PyArray_DESCR(data);
        Py_INCREF(reinterpret_cast<PyObject*>(type));
        nb::object made = nb::steal(PyArray_NewFromDescr(&PyArray_Type, type, rank, shape, nullptr, nullptr, 0, nullptr));
        if (!made.is_valid()) throw nb::python_error();
        return made;
    }
    PyArrayObject* const given = exact_array(out);
    if (!given || PyArray_NDIM(given) != rank || !PyArray_CompareLists(PyArray_DIMS(given), shape, rank) ||
        !PyArray_EquivTypes(PyArray_DESCR(given), PyArray_DESCR(data)) || !PyArray_ISWRITEABLE(given) || !is_movable(given) ||
        !is_nested(given) || may_overlap(given, data) || may_overlap(given, indices))
        return nb::none();
    return nb::borrow(out);
}

// Return true if an object is an int in [low, high), and read it.
inline bool is_number(nb::handle object, int low, int high, int& value) {
    if (!PyLong_CheckExact(object.ptr())) return false;
    int overflow = 0;
    const long long given = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    value = static_cast<int>(given);
    return !overflow && low <= given && given < high;
}

// Return true if an object is an axis of arrays of this rank, and read it, counted from the front.
inline bool is_axis(nb::handle object, int rank, int& axis) {
    if (!is_number(object, -rank, rank, axis)) return false;
    if (axis < 0) axis += rank;
    return true;
}

// Return true if indices are plain, have data's rank, and exceed data along the axis only.
inline bool are_elements(PyArrayObject* data, PyArrayObject* indices, int axis) {
    if (PyArray_NDIM(indices) != PyArray_NDIM(data) || !is_index(indices)) return false;
    for (int i = 0; i < PyArray_NDIM(data); ++i)
        if (i != axis && PyArray_DIM(indices, i) > PyArray_DIM(data, i)) return false;
    return true;
}

}  // namespace
