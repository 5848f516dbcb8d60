// The functions of ov_gather_kernel.h. No exception leaves them.
#include "aggregate.hpp"
#include "gather.hpp"
#include "isa.hpp"
#include "limits.hpp"
#include "scatter.hpp"
#include "scatter_rows.hpp"
#include "threads.hpp"
#include "tuples.hpp"

using namespace ov_gather;

namespace {

const char* bytes(const void* memory) { return static_cast<const char*>(memory); }
char* bytes(void* memory) { return static_cast<char*>(memory); }

}  // namespace

int64_t ov_gather_elements(const ov_gather_threads* threads, const ov_gather_elements_arguments* given, const void* data,
                           const void* indices, void* output) {
    return result_of([&] { return gather_elements(Threads(*threads), *given, bytes(data), bytes(indices), bytes(output)); });
}

int64_t ov_gather_first_out_of_bounds(const ov_gather_threads* threads, const ov_gather_elements_arguments* given,
                                      const void* indices) {
    return result_of([&] { return first_out_of_bounds(Threads(*threads), *given, bytes(indices)); });
}

int64_t ov_gather_tuples(const ov_gather_threads* threads, const ov_gather_tuples_arguments* given, const void* data,
                         const void* indices, void* output) {
    return result_of([&] { return gather_tuples(Threads(*threads), *given, bytes(data), bytes(indices), bytes(output)); });
}

int64_t ov_gather_flatten_tuples(const ov_gather_threads* threads, const ov_gather_tuples_arguments* given, const void* indices,
                                 int64_t* flat) {
    return result_of([&] { return flatten_tuples(Threads(*threads), *given, bytes(indices), flat); });
}

int64_t ov_gather_scatter(const ov_gather_threads* threads, const ov_gather_scatter_arguments* given, const void* data,
                          const void* indices, const void* updates, void* output) {
    return result_of([&] {
        const bool in_bounds =
            scatter_elements(Threads(*threads), *given, bytes(data), bytes(indices), bytes(updates), bytes(output));
        return in_bounds ? ov_gather_done : int64_t{0};
    });
}

int64_t ov_gather_scatter_rows(const ov_gather_threads* threads, const ov_gather_rows_arguments* given, const int64_t* rows,
                               const void* data, const void* updates, void* output) {
    return result_of([&] {
        scatter_rows(Threads(*threads), *given, rows, bytes(data), bytes(updates), bytes(output));
        return ov_gather_done;
    });
}

int64_t ov_gather_aggregate(const ov_gather_threads* threads, const ov_gather_aggregate_arguments* given, const void* data,
                            const void* sources, const void* targets, const void* weights, void* output) {
    return result_of([&] {
        const bool in_bounds =
            aggregate(Threads(*threads), *given, bytes(data), bytes(sources), bytes(targets), bytes(weights), bytes(output));
        return in_bounds ? ov_gather_done : int64_t{0};
    });
}

int64_t ov_gather_first_outside(const void* numbers, char kind, int64_t element_size, const ov_gather_limits_loop* loops,
                                int64_t loop_count, const void* limits) {
    return result_of([&] { return first_outside(bytes(numbers), kind, element_size, {loops, loops + loop_count}, limits); });
}

const char* ov_gather_available_isas() { return available_isas(); }

const char* ov_gather_isa() { return isa_name(); }
