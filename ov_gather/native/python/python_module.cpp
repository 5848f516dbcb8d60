// The compiled kernel as a Python module. It accepts "plain" arrays only (`is_movable`), and returns None for others, so that
// the Python code in kernels/ handles them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>

#include "gather.hpp"
#include "isa.hpp"
#include "scatter.hpp"
#include "scatter_rows.hpp"
#include "slices.hpp"
#include "thread_pool.hpp"
#include "tuples.hpp"

namespace nb = nanobind;

namespace {

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
bool is_movable(PyArrayObject* array) {
    const npy_intp size = PyArray_ITEMSIZE(array);
    if (size == 0 || size > 16 || (size & (size - 1)) != 0 || PyDataType_REFCHK(PyArray_DESCR(array))) return false;
    const npy_intp alignment = size < 16 ? size : 8;
    npy_intp low_bits = reinterpret_cast<npy_intp>(PyArray_DATA(array)) & (alignment - 1);
    for (int i = 0; i < PyArray_NDIM(array); ++i)
        if (PyArray_DIM(array, i) > 1) low_bits |= PyArray_STRIDE(array, i) & (size - 1);
    return low_bits == 0 || PyArray_SIZE(array) == 0;
}

// Return true if strides are nested, so that no two elements share memory. Elements of other arrays may be distinct, too.
bool is_nested(PyArrayObject* array) {
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

bool is_index(PyArrayObject* array) {
    const PyArray_Descr* type = PyArray_DESCR(array);
    return type->kind == 'i' && PyArray_ITEMSIZE(array) >= 4 && PyArray_ISNBO(type->byteorder) && is_movable(array);
}

ov_gather::IndexType index_type(PyArrayObject* indices) {
    return PyArray_ITEMSIZE(indices) == 4 ? ov_gather::IndexType::int32 : ov_gather::IndexType::int64;
}

// Return the addresses of the first byte and past the last byte of an array.
std::pair<const char*, const char*> extent(PyArrayObject* array) {
    const char *low = PyArray_BYTES(array), *high = low + PyArray_ITEMSIZE(array);
    for (int i = 0; i < PyArray_NDIM(array); ++i) {
        const npy_intp span = (PyArray_DIM(array, i) - 1) * PyArray_STRIDE(array, i);
        (span < 0 ? low : high) += span;
    }
    return {low, high};
}

bool may_overlap(PyArrayObject* one, PyArrayObject* other) {
    if (PyArray_SIZE(one) == 0 || PyArray_SIZE(other) == 0) return false;
    const auto a = extent(one), b = extent(other);
    return a.first < b.second && b.first < a.second;
}

// Return `out`, or a new array of this shape and data's dtype; None if `out` is not plain or does not fit.
nb::object output_for(nb::handle out, PyArrayObject* data, PyArrayObject* indices, int rank, npy_intp const* shape) {
    if (out.is_none()) {
        PyArray_Descr* type = PyArray_DESCR(data);
        Py_INCREF(reinterpret_cast<PyObject*>(type));
        nb::object made = nb::steal(PyArray_NewFromDescr(&PyArray_Type, type, rank, shape, nullptr, nullptr, 0, nullptr));
        if (!made.is_valid()) throw nb::python_error();
        return made;
    }
    if (!PyArray_CheckExact(out.ptr())) return nb::none();
    auto* given = reinterpret_cast<PyArrayObject*>(out.ptr());
    if (PyArray_NDIM(given) != rank || !PyArray_CompareLists(PyArray_DIMS(given), shape, rank) ||
        !PyArray_EquivTypes(PyArray_DESCR(given), PyArray_DESCR(data)) || !PyArray_ISWRITEABLE(given) || !is_movable(given) ||
        !is_nested(given) || may_overlap(given, data) || may_overlap(given, indices))
        return nb::none();
    return nb::borrow(out);
}

// Gather; return the output, or the first position whose index is out of bounds.
nb::object run(const ov_gather::Gather& gather, PyArrayObject* data, PyArrayObject* indices, const nb::object& output) {
    int64_t position;
    {
        const nb::gil_scoped_release release;
        position = ov_gather::gather_elements(gather, PyArray_BYTES(data), PyArray_BYTES(indices),
                                              PyArray_BYTES(reinterpret_cast<PyArrayObject*>(output.ptr())));
    }
    return position == ov_gather::all_in_bounds ? output : nb::int_(position);
}

// Return true if an object is an int in [low, high), and read it.
bool is_number(nb::handle object, int low, int high, int& value) {
    if (!PyLong_CheckExact(object.ptr())) return false;
    int overflow = 0;
    const long long given = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    value = static_cast<int>(given);
    return !overflow && low <= given && given < high;
}

// Gather elements; return the output, or the first position whose index is out of bounds, or None if an argument is not plain
// or invalid: the caller then checks it in detail.
nb::object gather_elements(nb::handle data_object, nb::handle indices_object, nb::handle axis_object, nb::handle out,
                           bool zero) {
    if (!PyArray_CheckExact(data_object.ptr()) || !PyArray_CheckExact(indices_object.ptr())) return nb::none();
    auto* data = reinterpret_cast<PyArrayObject*>(data_object.ptr());
    auto* indices = reinterpret_cast<PyArrayObject*>(indices_object.ptr());
    const int rank = PyArray_NDIM(data);
    int axis;
    if (!is_number(axis_object, -rank, rank, axis) || PyArray_NDIM(indices) != rank || !is_movable(data) || !is_index(indices))
        return nb::none();
    if (axis < 0) axis += rank;
    for (int i = 0; i < rank; ++i)
        if (i != axis && PyArray_DIM(indices, i) > PyArray_DIM(data, i)) return nb::none();
    const nb::object result = output_for(out, data, indices, rank, PyArray_DIMS(indices));
    if (result.is_none()) return result;

    const Strides from(data), index(indices), to(reinterpret_cast<PyArrayObject*>(result.ptr()));
    ov_gather::Gather gather{{}, PyArray_DIM(data, axis), from[axis], PyArray_ITEMSIZE(data), index_type(indices), zero};
    gather.loops.reserve(rank);
    for (int i = 0; i < rank; ++i) gather.loops.push_back({PyArray_DIM(indices, i), index[i], i == axis ? 0 : from[i], to[i]});
    return run(gather, data, indices, result);
}

// Gather slices; return values are those of gather_elements.
nb::object gather(nb::handle data_object, nb::handle indices_object, nb::handle axis_object, nb::handle batch_object,
                  nb::handle out, bool zero) {
    if (!PyArray_CheckExact(data_object.ptr()) || !PyArray_CheckExact(indices_object.ptr())) return nb::none();
    auto* data = reinterpret_cast<PyArrayObject*>(data_object.ptr());
    auto* indices = reinterpret_cast<PyArrayObject*>(indices_object.ptr());
    const int rank = PyArray_NDIM(data), index_rank = PyArray_NDIM(indices);
    int axis, batch;
    if (!is_number(axis_object, -rank, rank, axis) || !is_number(batch_object, 0, index_rank + 1, batch) || !is_movable(data) ||
        !is_index(indices))
        return nb::none();
    if (axis < 0) axis += rank;
    const int own = index_rank - batch;
    if (batch > axis || rank - 1 + own > NPY_MAXDIMS || !PyArray_CompareLists(PyArray_DIMS(data), PyArray_DIMS(indices), batch))
        return nb::none();
    std::vector<npy_intp> shape(PyArray_DIMS(data), PyArray_DIMS(data) + axis);
    shape.insert(shape.end(), PyArray_DIMS(indices) + batch, PyArray_DIMS(indices) + index_rank);
    shape.insert(shape.end(), PyArray_DIMS(data) + axis + 1, PyArray_DIMS(data) + rank);
    // An index may be out of bounds even if nothing is gathered.
    if (!zero && PyArray_SIZE(indices) != 0 && std::find(shape.begin(), shape.end(), 0) != shape.end()) return nb::none();
    const nb::object result = output_for(out, data, indices, static_cast<int>(shape.size()), shape.data());
    if (result.is_none()) return result;

    const Strides from(data), index(indices), to(reinterpret_cast<PyArrayObject*>(result.ptr()));
    return run({ov_gather::slice_loops(shape, shape.size(), own, axis, batch, from, index, to), PyArray_DIM(data, axis),
                from[axis], PyArray_ITEMSIZE(data), index_type(indices), zero},
               data, indices, result);
}

// Flatten contiguous `tuples` of int32 or int64 to `flat`, contiguous int64; return -1, or the first tuple out of bounds.
int64_t flatten_tuples(nb::handle tuples_object, const std::vector<int64_t>& dims, nb::handle flat_object) {
    auto* tuples = reinterpret_cast<PyArrayObject*>(tuples_object.ptr());
    auto* flat = reinterpret_cast<PyArrayObject*>(flat_object.ptr());
    const nb::gil_scoped_release release;
    return ov_gather::flatten_tuples(PyArray_BYTES(tuples), index_type(tuples), PyArray_SIZE(flat), dims,
                                     static_cast<int64_t*>(PyArray_DATA(flat)));
}

npy_intp product(const npy_intp* sizes, npy_intp count) {
    return std::accumulate(sizes, sizes + count, npy_intp{1}, std::multiplies<>());
}

// Gather slices by tuples; return values are those of gather_elements, with the position of a tuple.
nb::object gather_nd(nb::handle data_object, nb::handle tuples_object, nb::handle batch_object, nb::handle out) {
    if (!PyArray_CheckExact(data_object.ptr()) || !PyArray_CheckExact(tuples_object.ptr())) return nb::none();
    auto* data = reinterpret_cast<PyArrayObject*>(data_object.ptr());
    auto* tuples = reinterpret_cast<PyArrayObject*>(tuples_object.ptr());
    const int rank = PyArray_NDIM(data), last = PyArray_NDIM(tuples) - 1;
    int batch;
    if (last < 0 || !is_number(batch_object, 0, std::min(rank, last + 1), batch) || !is_movable(data) || !is_index(tuples) ||
        !PyArray_IS_C_CONTIGUOUS(data) || !PyArray_IS_C_CONTIGUOUS(tuples))
        return nb::none();
    const npy_intp depth = PyArray_DIM(tuples, last), *const dims = PyArray_DIMS(data);
    if (depth > rank - batch || !PyArray_CompareLists(dims, PyArray_DIMS(tuples), batch) ||
        last + rank - batch - depth > NPY_MAXDIMS)
        return nb::none();
    std::vector<npy_intp> shape(PyArray_DIMS(tuples), PyArray_DIMS(tuples) + last);
    shape.insert(shape.end(), dims + batch + depth, dims + rank);
    const nb::object result = output_for(out, data, tuples, static_cast<int>(shape.size()), shape.data());
    if (result.is_none()) return result;
    auto* output = reinterpret_cast<PyArrayObject*>(result.ptr());
    if (!PyArray_IS_C_CONTIGUOUS(output)) return nb::none();

    const ov_gather::GatherTuples gather{product(dims, batch),
                                         product(PyArray_DIMS(tuples) + batch, last - batch),
                                         {dims + batch, dims + batch + depth},
                                         product(dims + batch + depth, rank - batch - depth),
                                         PyArray_ITEMSIZE(data),
                                         index_type(tuples)};
    int64_t position;
    {
        const nb::gil_scoped_release release;
        position = ov_gather::gather_tuples(gather, PyArray_BYTES(data), PyArray_BYTES(tuples), PyArray_BYTES(output));
    }
    return position == ov_gather::all_in_bounds ? result : nb::int_(position);
}

// Describe a scatter of plain arrays of the same rank, with fitting shapes, into a contiguous output. See scatter.hpp for
// `kind` and reductions.hpp for the numbers of reductions.
ov_gather::Scatter describe(PyArrayObject* output, PyArrayObject* indices, PyArrayObject* updates, int axis, char kind,
                            ov_gather::Reduction reduction) {
    ov_gather::Scatter scatter{{},
                               {},
                               PyArray_DIM(output, axis),
                               index_type(indices),
                               reduction,
                               PyArray_SIZE(output),
                               kind,
                               PyArray_ITEMSIZE(output)};
    const Strides index(indices), from(updates), to(output);
    for (int i = 0; i < PyArray_NDIM(output); ++i) {
        const ov_gather::ScatterLoop loop{PyArray_DIM(indices, i), index[i], from[i], to[i]};
        if (i == axis)
            scatter.axis = loop;
        else
            scatter.loops.push_back(loop);
    }
    return scatter;
}

// Update elements of the output in place; return true if all indices are in bounds.
bool update_elements(nb::handle output_object, nb::handle indices_object, nb::handle updates_object, int axis, char kind,
                     int reduction) {
    auto* output = reinterpret_cast<PyArrayObject*>(output_object.ptr());
    auto* indices = reinterpret_cast<PyArrayObject*>(indices_object.ptr());
    auto* updates = reinterpret_cast<PyArrayObject*>(updates_object.ptr());
    const auto scatter = describe(output, indices, updates, axis, kind, static_cast<ov_gather::Reduction>(reduction));
    char* const bytes = PyArray_BYTES(output);
    const nb::gil_scoped_release release;
    return ov_gather::scatter_elements(scatter, bytes, PyArray_BYTES(indices), PyArray_BYTES(updates), bytes);
}

bool are_reduced(PyArrayObject* array) {
    const char kind = PyArray_DESCR(array)->kind;
    return PyArray_ISNBO(PyArray_DESCR(array)->byteorder) && (kind == 'i' || kind == 'u' || kind == 'f') &&
           PyArray_ISNUMBER(array) && PyArray_ITEMSIZE(array) <= 8 && (kind != 'f' || PyArray_ITEMSIZE(array) >= 4);
}

// Return true if both arrays are plain, of the same type, and the kernel can reduce it.
bool can_update(PyArrayObject* data, PyArrayObject* updates, int reduction) {
    return is_movable(data) && is_movable(updates) && PyArray_EquivTypes(PyArray_DESCR(data), PyArray_DESCR(updates)) &&
           (reduction == 0 || are_reduced(data));
}

// Scatter into a copy of data and return it; return None if an index is out of bounds, or an argument is not plain or invalid:
// the caller then checks it in detail. `reduction` is a value of Reduction.
nb::object scatter_elements(nb::handle data_object, nb::handle indices_object, nb::handle updates_object,
                            nb::handle axis_object, int reduction, nb::handle out) {
    for (const nb::handle object : {data_object, indices_object, updates_object})
        if (!PyArray_CheckExact(object.ptr())) return nb::none();
    auto* data = reinterpret_cast<PyArrayObject*>(data_object.ptr());
    auto* indices = reinterpret_cast<PyArrayObject*>(indices_object.ptr());
    auto* updates = reinterpret_cast<PyArrayObject*>(updates_object.ptr());
    const int rank = PyArray_NDIM(data);
    int axis;
    if (!is_number(axis_object, -rank, rank, axis) || PyArray_NDIM(indices) != rank || PyArray_NDIM(updates) != rank ||
        !PyArray_CompareLists(PyArray_DIMS(indices), PyArray_DIMS(updates), rank) || !is_index(indices) ||
        !can_update(data, updates, reduction) || !PyArray_IS_C_CONTIGUOUS(data))
        return nb::none();
    if (axis < 0) axis += rank;
    for (int i = 0; i < rank; ++i)
        if (i != axis && PyArray_DIM(indices, i) > PyArray_DIM(data, i)) return nb::none();
    const nb::object result = output_for(out, data, indices, rank, PyArray_DIMS(data));
    if (result.is_none()) return result;
    auto* output = reinterpret_cast<PyArrayObject*>(result.ptr());
    if (!PyArray_IS_C_CONTIGUOUS(output) || may_overlap(output, updates)) return nb::none();
    const auto scatter =
        describe(output, indices, updates, axis, PyArray_DESCR(data)->kind, static_cast<ov_gather::Reduction>(reduction));
    bool in_bounds;
    {
        const nb::gil_scoped_release release;
        in_bounds = ov_gather::scatter_elements(scatter, PyArray_BYTES(data), PyArray_BYTES(indices), PyArray_BYTES(updates),
                                                PyArray_BYTES(output));
    }
    return in_bounds ? result : nb::none();
}

// Update rows of the output in place. All arrays are contiguous and plain; `flat` has one int64 per update, in bounds.
void update_rows(nb::handle output_object, int64_t rows, nb::handle flat_object, nb::handle updates_object, char kind,
                 int reduction) {
    auto* output = reinterpret_cast<PyArrayObject*>(output_object.ptr());
    auto* flat = reinterpret_cast<PyArrayObject*>(flat_object.ptr());
    const int64_t row_size = PyArray_SIZE(output) / std::max<int64_t>(rows, 1);
    const ov_gather::ScatterRows scatter{
        PyArray_SIZE(flat),      rows, row_size, row_size, static_cast<ov_gather::Reduction>(reduction), kind,
        PyArray_ITEMSIZE(output)};
    char* const bytes = PyArray_BYTES(output);
    const nb::gil_scoped_release release;
    ov_gather::scatter_rows(scatter, static_cast<const int64_t*>(PyArray_DATA(flat)), bytes,
                            PyArray_BYTES(reinterpret_cast<PyArrayObject*>(updates_object.ptr())), bytes);
}

// Scatter rows by tuples into a copy of data; return values are those of scatter_elements.
nb::object scatter_nd(nb::handle data_object, nb::handle tuples_object, nb::handle updates_object, int reduction,
                      nb::handle out) {
    for (const nb::handle object : {data_object, tuples_object, updates_object})
        if (!PyArray_CheckExact(object.ptr())) return nb::none();
    auto* data = reinterpret_cast<PyArrayObject*>(data_object.ptr());
    auto* tuples = reinterpret_cast<PyArrayObject*>(tuples_object.ptr());
    auto* updates = reinterpret_cast<PyArrayObject*>(updates_object.ptr());
    const int rank = PyArray_NDIM(data), last = PyArray_NDIM(tuples) - 1;
    if (rank == 0 || last < 0 || !is_index(tuples) || !can_update(data, updates, reduction)) return nb::none();
    for (PyArrayObject* array : {data, tuples, updates})
        if (!PyArray_IS_C_CONTIGUOUS(array)) return nb::none();
    const npy_intp depth = PyArray_DIM(tuples, last), *const dims = PyArray_DIMS(data);
    if (depth > rank || PyArray_NDIM(updates) != last + rank - depth ||
        !PyArray_CompareLists(PyArray_DIMS(updates), PyArray_DIMS(tuples), last) ||
        !PyArray_CompareLists(PyArray_DIMS(updates) + last, dims + depth, static_cast<int>(rank - depth)))
        return nb::none();
    const nb::object result = output_for(out, data, tuples, rank, dims);
    if (result.is_none()) return result;
    auto* output = reinterpret_cast<PyArrayObject*>(result.ptr());
    if (!PyArray_IS_C_CONTIGUOUS(output) || may_overlap(output, updates)) return nb::none();

    const std::vector<int64_t> indexed(dims, dims + depth);
    const int64_t rows = product(dims, depth), row_size = product(dims + depth, rank - depth);
    const int64_t count = product(PyArray_DIMS(tuples), last);
    const std::unique_ptr<int64_t[]> flat(new int64_t[count]);  // uninitialized, because zeroing a large array is slow
    const ov_gather::ScatterRows scatter{count,
                                         rows,
                                         row_size,
                                         row_size,
                                         static_cast<ov_gather::Reduction>(reduction),
                                         PyArray_DESCR(data)->kind,
                                         PyArray_ITEMSIZE(data)};
    bool in_bounds;
    {
        const nb::gil_scoped_release release;
        in_bounds = ov_gather::flatten_tuples(PyArray_BYTES(tuples), index_type(tuples), count, indexed, flat.get()) ==
                    ov_gather::all_in_bounds;
        if (in_bounds)
            ov_gather::scatter_rows(scatter, flat.get(), PyArray_BYTES(data), PyArray_BYTES(updates), PyArray_BYTES(output));
    }
    return in_bounds ? result : nb::none();
}

// Keep the Python error that the signal handler has set, so that it propagates to the caller.
void keep_interrupt(const std::exception_ptr& error, void*) {
    try {
        std::rethrow_exception(error);
    } catch (const ov_gather::Interrupted&) {
    }
}

}  // namespace

NB_MODULE(_native, module) {
    if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
    nb::register_exception_translator(&keep_interrupt);
    module.def("gather_elements", &gather_elements, nb::arg("data").none(), nb::arg("indices").none(), nb::arg("axis").none(),
               nb::arg("out").none(), nb::arg("zero") = false,
               "The output; or the first position whose index is out of bounds; or None: an argument is not plain.");
    module.def("gather", &gather, nb::arg("data").none(), nb::arg("indices").none(), nb::arg("axis").none(),
               nb::arg("batch_dims").none(), nb::arg("out").none(), nb::arg("zero"), "The same.");
    module.def("flatten_tuples", &flatten_tuples, "Fills `flat`; returns -1, or the first tuple that is out of bounds.");
    module.def("gather_nd", &gather_nd, nb::arg("data").none(), nb::arg("tuples").none(), nb::arg("batch_dims").none(),
               nb::arg("out").none(), "The same; the position is that of a tuple.");
    module.def("scatter_elements", &scatter_elements, nb::arg("data").none(), nb::arg("indices").none(),
               nb::arg("updates").none(), nb::arg("axis").none(), nb::arg("reduction"), nb::arg("out").none(),
               "The output; or None: an argument is not plain, or an index out of bounds.");
    module.def("update_elements", &update_elements, "Updates `output`; returns whether all indices are in bounds.");
    module.def("scatter_nd", &scatter_nd, nb::arg("data").none(), nb::arg("tuples").none(), nb::arg("updates").none(),
               nb::arg("reduction"), nb::arg("out").none(), "The same.");
    module.def("update_rows", &update_rows, "Updates rows of `output`.");
    module.def("set_num_threads", &ov_gather::set_num_threads, nb::arg("count"));
    module.def("isa_name", &ov_gather::isa_name, "The instruction set in use.");
    module.def("available_isas", &ov_gather::available_isas, "Those that this machine has, best first.");
}
