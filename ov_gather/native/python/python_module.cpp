// The compiled kernel as a Python module. It accepts "plain" arrays only (`is_movable`), and returns None for others, so that
// the Python code in kernels/ handles them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <new>
#include <numeric>

#include "arrays.hpp"
#include "ov_gather_kernel.h"
#include "slices.hpp"
#include "thread_pool.hpp"

namespace {

const ov_gather_threads* const threads = &ov_gather::pool_threads;

// Call the kernel without Python's global lock, and return its result. Throws if it was interrupted or lacks memory.
template <typename Call>
int64_t unlocked(const Call& call) {
    int64_t result;
    {
        const nb::gil_scoped_release release;
        result = call();
    }
    if (result == ov_gather_interrupted) throw nb::python_error();  // of the signal handler
    if (result == ov_gather_no_memory) throw std::bad_alloc();
    return result;
}

npy_intp product(const npy_intp* sizes, npy_intp count) {
    return std::accumulate(sizes, sizes + count, npy_intp{1}, std::multiplies<>());
}

// Gather; return the output, or the first position whose index is out of bounds.
nb::object run(const ov_gather_elements_arguments& gather, PyArrayObject* data, PyArrayObject* indices,
               const nb::object& output) {
    const int64_t position = unlocked([&] {
        return ov_gather_elements(threads, &gather, PyArray_DATA(data), PyArray_DATA(indices), PyArray_DATA(array_of(output)));
    });
    return position == ov_gather_done ? output : nb::int_(position);
}

// Gather elements; return the output, or the first position whose index is out of bounds, or None if an argument is not plain
// or invalid: the caller then checks it in detail.
nb::object gather_elements(nb::handle data_object, nb::handle indices_object, nb::handle axis_object, nb::handle out,
                           bool zero) {
    PyArrayObject *const data = exact_array(data_object), *const indices = exact_array(indices_object);
    int axis;
    if (!data || !indices || !is_movable(data) || !is_axis(axis_object, PyArray_NDIM(data), axis) ||
        !are_elements(data, indices, axis))
        return nb::none();
    const int rank = PyArray_NDIM(data);
    const nb::object result = output_for(out, data, indices, rank, PyArray_DIMS(indices));
    if (result.is_none()) return result;

    const Strides from(data), index(indices), to(array_of(result));
    ov_gather_loop loops[NPY_MAXDIMS];
    for (int i = 0; i < rank; ++i) loops[i] = {PyArray_DIM(indices, i), index[i], i == axis ? 0 : from[i], to[i]};
    return run({loops, rank, PyArray_DIM(data, axis), from[axis], PyArray_ITEMSIZE(data), PyArray_ITEMSIZE(indices), zero},
               data, indices, result);
}

// Gather slices; return values are those of gather_elements.
nb::object gather(nb::handle data_object, nb::handle indices_object, nb::handle axis_object, nb::handle batch_object,
                  nb::handle out, bool zero) {
    PyArrayObject *const data = exact_array(data_object), *const indices = exact_array(indices_object);
    if (!data || !indices || !is_movable(data) || !is_index(indices)) return nb::none();
    const int rank = PyArray_NDIM(data), index_rank = PyArray_NDIM(indices);
    int axis, batch;
    if (!is_axis(axis_object, rank, axis) || !is_number(batch_object, 0, index_rank + 1, batch)) return nb::none();
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

    const Strides from(data), index(indices), to(array_of(result));
    const auto loops = ov_gather::slice_loops(shape, shape.size(), own, axis, batch, from, index, to);
    return run({loops.data(), static_cast<int64_t>(loops.size()), PyArray_DIM(data, axis), from[axis], PyArray_ITEMSIZE(data),
                PyArray_ITEMSIZE(indices), zero},
               data, indices, result);
}

// Flatten contiguous `tuples` of int32 or int64 to `flat`, contiguous int64; return -1, or the first tuple out of bounds.
int64_t flatten_tuples(nb::handle tuples_object, const std::vector<int64_t>& dims, nb::handle flat_object) {
    PyArrayObject *const tuples = array_of(tuples_object), *const flat = array_of(flat_object);
    const int64_t depth = dims.size();
    const ov_gather_tuples_arguments given{1, PyArray_SIZE(flat), dims.data(), depth, 0, 0, PyArray_ITEMSIZE(tuples)};
    return unlocked([&] {
        return ov_gather_flatten_tuples(threads, &given, PyArray_DATA(tuples), static_cast<int64_t*>(PyArray_DATA(flat)));
    });
}

// Gather slices by tuples; return values are those of gather_elements, with the position of a tuple.
nb::object gather_nd(nb::handle data_object, nb::handle tuples_object, nb::handle batch_object, nb::handle out) {
    PyArrayObject *const data = exact_array(data_object), *const tuples = exact_array(tuples_object);
    if (!data || !tuples || !is_movable(data) || !is_index(tuples) || !PyArray_IS_C_CONTIGUOUS(data) ||
        !PyArray_IS_C_CONTIGUOUS(tuples))
        return nb::none();
    const int rank = PyArray_NDIM(data), last = PyArray_NDIM(tuples) - 1;
    int batch;
    if (last < 0 || !is_number(batch_object, 0, std::min(rank, last + 1), batch)) return nb::none();
    const npy_intp depth = PyArray_DIM(tuples, last), *const dims = PyArray_DIMS(data);
    if (depth > rank - batch || !PyArray_CompareLists(dims, PyArray_DIMS(tuples), batch) ||
        last + rank - batch - depth > NPY_MAXDIMS)
        return nb::none();
    std::vector<npy_intp> shape(PyArray_DIMS(tuples), PyArray_DIMS(tuples) + last);
    shape.insert(shape.end(), dims + batch + depth, dims + rank);
    const nb::object result = output_for(out, data, tuples, static_cast<int>(shape.size()), shape.data());
    if (result.is_none() || !PyArray_IS_C_CONTIGUOUS(array_of(result))) return nb::none();

    const ov_gather_tuples_arguments gather{product(dims, batch),
                                            product(PyArray_DIMS(tuples) + batch, last - batch),
                                            dims + batch,
                                            depth,
                                            product(dims + batch + depth, rank - batch - depth),
                                            PyArray_ITEMSIZE(data),
                                            PyArray_ITEMSIZE(tuples)};
    const int64_t position = unlocked([&] {
        return ov_gather_tuples(threads, &gather, PyArray_DATA(data), PyArray_DATA(tuples), PyArray_DATA(array_of(result)));
    });
    return position == ov_gather_done ? result : nb::int_(position);
}

// Scatter plain arrays of the same rank, with fitting shapes, into a contiguous output; return true if all indices are in
// bounds. `kind` is NumPy's, and `reduction` a value of ov_gather_reduction.
bool run(const char* data, PyArrayObject* output, PyArrayObject* indices, PyArrayObject* updates, int axis, char kind,
         int reduction) {
    const int rank = PyArray_NDIM(output);
    const Strides index(indices), from(updates), to(output);
    ov_gather_scatter_loop loops[NPY_MAXDIMS];
    const auto loop_of = [&](int i) { return ov_gather_scatter_loop{PyArray_DIM(indices, i), index[i], from[i], to[i]}; };
    for (int i = 0; i + 1 < rank; ++i) loops[i] = loop_of(i + (i >= axis));
    const ov_gather_scatter_arguments scatter{loops,
                                              rank - 1,
                                              loop_of(axis),
                                              PyArray_DIM(output, axis),
                                              PyArray_SIZE(output),
                                              PyArray_ITEMSIZE(output),
                                              PyArray_ITEMSIZE(indices),
                                              static_cast<ov_gather_reduction>(reduction),
                                              kind};
    return unlocked([&] {
               return ov_gather_scatter(threads, &scatter, data, PyArray_DATA(indices), PyArray_DATA(updates),
                                        PyArray_DATA(output));
           }) == ov_gather_done;
}

// Update elements of the output in place; return true if all indices are in bounds.
bool update_elements(nb::handle output, nb::handle indices, nb::handle updates, int axis, char kind, int reduction) {
    return run(PyArray_BYTES(array_of(output)), array_of(output), array_of(indices), array_of(updates), axis, kind, reduction);
}

// Return true if elements are integers or floats of C++, in the byte order of this machine.
bool are_numbers(PyArrayObject* array) {
    const char kind = PyArray_DESCR(array)->kind;
    return PyArray_ISNBO(PyArray_DESCR(array)->byteorder) && (kind == 'i' || kind == 'u' || kind == 'f') &&
           PyArray_ISNUMBER(array) && PyArray_ITEMSIZE(array) <= 8 && (kind != 'f' || PyArray_ITEMSIZE(array) >= 4);
}

// Return true if both arrays are plain, of the same type, and the kernel can reduce it; data are contiguous.
bool can_update(PyArrayObject* data, PyArrayObject* updates, int reduction) {
    return is_movable(data) && is_movable(updates) && PyArray_EquivTypes(PyArray_DESCR(data), PyArray_DESCR(updates)) &&
           (reduction == 0 || are_numbers(data)) && PyArray_IS_C_CONTIGUOUS(data);
}

// Return the output of a scatter: `out`, or a new array; None if `out` does not fit or is not contiguous.
nb::object scattered_output(nb::handle out, PyArrayObject* data, PyArrayObject* indices, PyArrayObject* updates) {
    const nb::object result = output_for(out, data, indices, PyArray_NDIM(data), PyArray_DIMS(data));
    if (result.is_none() || !PyArray_IS_C_CONTIGUOUS(array_of(result)) || may_overlap(array_of(result), updates))
        return nb::none();
    return result;
}

// Scatter into a copy of data and return it; return None if an index is out of bounds, or an argument is not plain or invalid:
// the caller then checks it in detail. `reduction` is a value of
// ov_gather_reduction.
nb::object scatter_elements(nb::handle data_object, nb::handle indices_object, nb::handle updates_object,
                            nb::handle axis_object, int reduction, nb::handle out) {
    PyArrayObject *const data = exact_array(data_object), *const indices = exact_array(indices_object),
                         *const updates = exact_array(updates_object);
    int axis;
    if (!data || !indices || !updates || !is_axis(axis_object, PyArray_NDIM(data), axis) ||
        !are_elements(data, indices, axis) || !PyArray_SAMESHAPE(indices, updates) || !can_update(data, updates, reduction))
        return nb::none();
    const nb::object result = scattered_output(out, data, indices, updates);
    if (result.is_none()) return result;
    const char kind = PyArray_DESCR(data)->kind;
    return run(PyArray_BYTES(data), array_of(result), indices, updates, axis, kind, reduction) ? result : nb::none();
}

ov_gather_rows_arguments describe(PyArrayObject* output, int64_t rows, int64_t count, char kind, int reduction) {
    const int64_t row_size = PyArray_SIZE(output) / std::max<int64_t>(rows, 1);
    return {count, rows, row_size, row_size, PyArray_ITEMSIZE(output), static_cast<ov_gather_reduction>(reduction), kind};
}

// Update rows of the output in place. All arrays are contiguous and plain; `flat` has one int64 per update, in bounds.
void update_rows(nb::handle output_object, int64_t rows, nb::handle flat_object, nb::handle updates, char kind, int reduction) {
    PyArrayObject *const output = array_of(output_object), *const flat = array_of(flat_object);
    const auto scatter = describe(output, rows, PyArray_SIZE(flat), kind, reduction);
    char* const bytes = PyArray_BYTES(output);
    unlocked([&] {
        return ov_gather_scatter_rows(threads, &scatter, static_cast<const int64_t*>(PyArray_DATA(flat)), bytes,
                                      PyArray_DATA(array_of(updates)), bytes);
    });
}

// Scatter rows by tuples into a copy of data; return values are those of scatter_elements.
nb::object scatter_nd(nb::handle data_object, nb::handle tuples_object, nb::handle updates_object, int reduction,
                      nb::handle out) {
    PyArrayObject *const data = exact_array(data_object), *const tuples = exact_array(tuples_object),
                         *const updates = exact_array(updates_object);
    if (!data || !tuples || !updates || !is_index(tuples) || !can_update(data, updates, reduction) ||
        !PyArray_IS_C_CONTIGUOUS(tuples) || !PyArray_IS_C_CONTIGUOUS(updates))
        return nb::none();
    const int rank = PyArray_NDIM(data), last = PyArray_NDIM(tuples) - 1;
    if (rank == 0 || last < 0) return nb::none();
    const npy_intp depth = PyArray_DIM(tuples, last), *const dims = PyArray_DIMS(data);
    if (depth > rank || PyArray_NDIM(updates) != last + rank - depth ||
        !PyArray_CompareLists(PyArray_DIMS(updates), PyArray_DIMS(tuples), last) ||
        !PyArray_CompareLists(PyArray_DIMS(updates) + last, dims + depth, static_cast<int>(rank - depth)))
        return nb::none();
    const nb::object result = scattered_output(out, data, tuples, updates);
    if (result.is_none()) return result;

    const int64_t count = product(PyArray_DIMS(tuples), last);
    const std::unique_ptr<int64_t[]> flat(new int64_t[count]);  // uninitialized, because zeroing a large array is slow
    const auto scatter = describe(data, product(dims, depth), count, PyArray_DESCR(data)->kind, reduction);
    const ov_gather_tuples_arguments given{1, count, dims, depth, 0, 0, PyArray_ITEMSIZE(tuples)};
    const int64_t bad = unlocked([&] {
        const int64_t found = ov_gather_flatten_tuples(threads, &given, PyArray_DATA(tuples), flat.get());
        return found != ov_gather_done ? found
                                       : ov_gather_scatter_rows(threads, &scatter, flat.get(), PyArray_DATA(data),
                                                                PyArray_DATA(updates), PyArray_DATA(array_of(result)));
    });
    return bad == ov_gather_done ? result : nb::none();
}

// Gather rows and reduce them to rows of the output; return true if all indices are in bounds. All arrays are contiguous and
// plain; `weights` may be null. `kind` and `reduction` are those of ov_gather_aggregate_arguments.
bool run(PyArrayObject* data, PyArrayObject* sources, PyArrayObject* targets, PyArrayObject* weights, PyArrayObject* output,
         char kind, int reduction, bool mean) {
    const npy_intp edges = PyArray_SIZE(sources);
    const ov_gather_aggregate_arguments given{edges,
                                              PyArray_DIM(data, 0),
                                              PyArray_DIM(output, 0),
                                              product(PyArray_DIMS(data) + 1, PyArray_NDIM(data) - 1),
                                              weights && edges ? PyArray_SIZE(weights) / edges : 0,
                                              PyArray_ITEMSIZE(sources),
                                              PyArray_ITEMSIZE(targets),
                                              PyArray_ITEMSIZE(data),
                                              static_cast<ov_gather_reduction>(reduction),
                                              mean,
                                              kind};
    return unlocked([&] {
               return ov_gather_aggregate(threads, &given, PyArray_DATA(data), PyArray_DATA(sources), PyArray_DATA(targets),
                                          weights ? PyArray_DATA(weights) : nullptr, PyArray_DATA(output));
           }) == ov_gather_done;
}

bool aggregate(nb::handle data, nb::handle sources, nb::handle targets, nb::handle weights, nb::handle output, char kind,
               int reduction, bool mean) {
    return run(array_of(data), array_of(sources), array_of(targets), weights.is_none() ? nullptr : array_of(weights),
               array_of(output), kind, reduction, mean);
}

// Return true if an array is plain, contiguous and of less than 2^31 rows.
bool has_rows(PyArrayObject* array) {
    return array && is_movable(array) && PyArray_IS_C_CONTIGUOUS(array) && PyArray_NDIM(array) > 0 &&
           PyArray_DIM(array, 0) <= INT32_MAX;
}

// Return true if weights are plain, of data's type, and have the first dimensions of the edges and of a row.
bool are_weights(PyArrayObject* weights, PyArrayObject* data, PyArrayObject* sources) {
    return has_rows(weights) && PyArray_EquivTypes(PyArray_DESCR(weights), PyArray_DESCR(data)) &&
           PyArray_NDIM(weights) <= PyArray_NDIM(data) && PyArray_DIM(weights, 0) == PyArray_DIM(sources, 0) &&
           PyArray_CompareLists(PyArray_DIMS(weights) + 1, PyArray_DIMS(data) + 1, PyArray_NDIM(weights) - 1);
}

// Aggregate float32 or float16 and return the output; return None if an index is out of bounds, or an argument is not plain or
// invalid: the caller then checks it in detail.
nb::object gather_scatter(nb::handle data_object, nb::handle sources_object, nb::handle targets_object, nb::handle size_object,
                          nb::handle weights_object, int reduction, bool mean, nb::handle out) {
    PyArrayObject *const data = exact_array(data_object), *const sources = exact_array(sources_object),
                         *const targets = exact_array(targets_object);
    PyArrayObject* const weights = weights_object.is_none() ? nullptr : exact_array(weights_object);
    int size;
    if (!has_rows(data) || !has_rows(sources) || !has_rows(targets) || !is_index(sources) || !is_index(targets) ||
        PyArray_NDIM(sources) != 1 || !PyArray_SAMESHAPE(sources, targets) || !is_number(size_object, 0, INT32_MAX, size) ||
        (!weights_object.is_none() && !are_weights(weights, data, sources)))
        return nb::none();
    const PyArray_Descr* const type = PyArray_DESCR(data);
    if (type->kind != 'f' || PyArray_ITEMSIZE(data) > 4 || !PyArray_ISNBO(type->byteorder)) return nb::none();
    std::vector<npy_intp> shape(PyArray_DIMS(data), PyArray_DIMS(data) + PyArray_NDIM(data));
    shape[0] = size;
    const nb::object result = output_for(out, data, sources, static_cast<int>(shape.size()), shape.data());
    if (result.is_none()) return result;
    PyArrayObject* const output = array_of(result);
    if (!PyArray_IS_C_CONTIGUOUS(output) || may_overlap(output, targets) || (weights && may_overlap(output, weights)))
        return nb::none();
    return run(data, sources, targets, weights, output, 'f', reduction, mean) ? result : nb::none();
}

// Return the position, in C order, of the first number outside of the two `limits`, an array of the same type; -1 if none is;
// None if an argument is not plain, or of a type that the kernel does not compare.
nb::object first_outside(nb::handle numbers_object, nb::handle limits_object) {
    PyArrayObject *const numbers = exact_array(numbers_object), *const limits = exact_array(limits_object);
    if (!numbers || !limits || !is_movable(numbers) || !is_movable(limits) || !are_numbers(numbers) ||
        !PyArray_EquivTypes(PyArray_DESCR(numbers), PyArray_DESCR(limits)) || !PyArray_IS_C_CONTIGUOUS(limits) ||
        PyArray_SIZE(limits) != 2)
        return nb::none();
    const Strides strides(numbers);
    const int rank = PyArray_NDIM(numbers);
    ov_gather_limits_loop loops[NPY_MAXDIMS];
    for (int i = 0; i < rank; ++i) loops[i] = {PyArray_DIM(numbers, i), strides[i]};
    const char kind = PyArray_DESCR(numbers)->kind;
    return nb::int_(unlocked([&] {
        return ov_gather_first_outside(PyArray_DATA(numbers), kind, PyArray_ITEMSIZE(numbers), loops, rank,
                                       PyArray_DATA(limits));
    }));
}

// Take `steps` steps from each of several places to the next; all are int32. A load waits for the one before it in its chain,
// and for no other.
void chase(nb::handle next_object, nb::handle places_object, int64_t steps) {
    PyArrayObject* const array = array_of(places_object);
    const auto* const next = static_cast<const int32_t*>(PyArray_DATA(array_of(next_object)));
    auto* const places = static_cast<int32_t*>(PyArray_DATA(array));
    const npy_intp chains = PyArray_SIZE(array);
    unlocked([=] {
        for (int64_t step = 0; step < steps; ++step)
            for (npy_intp chain = 0; chain < chains; ++chain) places[chain] = next[places[chain]];
        return ov_gather_done;
    });
}

}  // namespace

NB_MODULE(_native, module) {
    if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
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
    module.def("gather_scatter", &gather_scatter, nb::arg("data").none(), nb::arg("sources").none(), nb::arg("targets").none(),
               nb::arg("size").none(), nb::arg("weights").none(), nb::arg("reduction"), nb::arg("mean"), nb::arg("out").none(),
               "The output; or None: an argument is not plain, or an index out of bounds.");
    module.def("aggregate", &aggregate, nb::arg("data"), nb::arg("sources"), nb::arg("targets"), nb::arg("weights").none(),
               nb::arg("output"), nb::arg("kind"), nb::arg("reduction"), nb::arg("mean"),
               "Fills `output`; returns whether all indices are in bounds.");
    module.def("first_outside", &first_outside, nb::arg("numbers").none(), nb::arg("limits").none(),
               "The first position outside of the limits, or -1; or None: an argument is not plain.");
    module.def("chase", &chase, "Moves `places` along chains, to measure the latency of memory.");
    module.def("set_num_threads", &ov_gather::set_num_threads, nb::arg("count"));
    module.def("isa_name", &ov_gather_isa, "The instruction set in use.");
    module.def(
        "available_isas", [] { return nb::str(ov_gather_available_isas()).attr("split")(); },
        "Those that this machine has, best first.");
}
