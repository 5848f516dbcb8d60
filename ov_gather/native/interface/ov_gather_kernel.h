/* The C interface of the kernel library, which the Python module and the OpenVINO extension share. It needs the C library and
   the system only, so that it suits every release of OpenVINO and every ABI of the C++ library.

   Memory is addressed by bytes: strides and positions may be negative, sizes may be 0. Gathered elements may stand at any
   address; indices, and the elements of scatters, at multiples of their size, or of 8. Indices are integers of 4 or 8 bytes;
   negative ones count from the end, and each is checked. Nothing outside of the arrays is written, nothing outside of the words
   of 4 bytes around them is read, and the results do not depend on the number of threads. The file name of the library ends
   with a fingerprint of this header. */
#ifndef OV_GATHER_KERNEL_H
#define OV_GATHER_KERNEL_H

#include <stdint.h>

#if defined(_WIN32) && defined(OV_GATHER_KERNEL_BUILDS)
#define OV_GATHER_KERNEL __declspec(dllexport)
#elif defined(_WIN32)
#define OV_GATHER_KERNEL __declspec(dllimport)
#else
#define OV_GATHER_KERNEL __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Results below 0. Results from 0 on are positions, row-major, of the first index out of bounds. */
static const int64_t ov_gather_done = -1;
static const int64_t ov_gather_interrupted = -2;
static const int64_t ov_gather_no_memory = -3;

/* Work on the positions begin to end - 1. The result is ov_gather_done, or another number to stop. */
typedef int64_t (*ov_gather_work)(void* context, int64_t begin, int64_t end);

/* The threads, which the caller provides. These functions do not throw. */
typedef struct {
    /* Call `work` for parts of [0, count), each of about `grain` or more, on several threads. Return ov_gather_done, or the
       result of a part that stopped; then parts that have not begun may be left out. */
    int64_t (*spread)(int64_t count, int64_t grain, ov_gather_work work, void* context);
    /* Return nonzero if the user has interrupted. Work of more than some 10 ms asks now and then, except in parts of a loop:
       between these `spread` should ask. */
    int (*is_interrupted)(void);
    /* Return the number of threads that share a loop, 1 or more. */
    int64_t (*count)(void);
    /* The number of gathered elements from which waking another thread pays. */
    int64_t elements_per_thread;
} ov_gather_threads;

/* A loop over positions of indices. Strides are in bytes; data_stride is 0 for the axis, whose coordinate comes from indices.
 */
typedef struct {
    int64_t size, index_stride, data_stride, output_stride;
} ov_gather_loop;

typedef struct {
    const ov_gather_loop* loops; /* outermost first */
    int64_t loop_count, axis_size, axis_stride;
    int64_t element_size; /* 1, 2, 4, 8 or 16 */
    int64_t index_size;
    int zero; /* write zeros for an index out of bounds instead of stopping */
} ov_gather_elements_arguments;

/* GatherElements (ONNX GatherElements-13), and any gather of elements by loops. */
OV_GATHER_KERNEL int64_t ov_gather_elements(const ov_gather_threads*, const ov_gather_elements_arguments*, const void* data,
                                            const void* indices, void* output);

/* Check indices as ov_gather_elements does, without gathering: one may be out of bounds even if the output is empty. */
OV_GATHER_KERNEL int64_t ov_gather_first_out_of_bounds(const ov_gather_threads*, const ov_gather_elements_arguments*,
                                                       const void* indices);

typedef struct {
    int64_t batches, tuples; /* tuples per batch */
    const int64_t* dims;     /* sizes of the indexed dimensions, in order: a tuple has one coordinate for each */
    int64_t dim_count;
    int64_t slice; /* elements per slice */
    int64_t element_size, index_size;
} ov_gather_tuples_arguments;

/* GatherND (ONNX GatherND-13) on contiguous memory. Positions count tuples, over all batches. */
OV_GATHER_KERNEL int64_t ov_gather_tuples(const ov_gather_threads*, const ov_gather_tuples_arguments*, const void* data,
                                          const void* indices, void* output);

/* Write one index for each of batches * tuples contiguous tuples: into the indexed dimensions, joined. Ignores slices. */
OV_GATHER_KERNEL int64_t ov_gather_flatten_tuples(const ov_gather_threads*, const ov_gather_tuples_arguments*,
                                                  const void* indices, int64_t* flat);

typedef enum {
    ov_gather_replace,
    ov_gather_sum,
    ov_gather_prod,
    ov_gather_min,
    ov_gather_max,
} ov_gather_reduction;

/* The same for a scatter. Along the axis, output_stride is the step per index. */
typedef struct {
    int64_t size, index_stride, update_stride, output_stride;
} ov_gather_scatter_loop;

typedef struct {
    const ov_gather_scatter_loop* loops; /* off the axis, outermost first */
    int64_t loop_count;
    ov_gather_scatter_loop axis;
    int64_t axis_size; /* of the output */
    int64_t elements;  /* of the output */
    int64_t element_size, index_size;
    ov_gather_reduction reduction;
    char kind; /* NumPy's kind of the elements: 'i' or 'u' of 1 to 8 bytes, 'f' of 4 or 8, 'c' of 8 or 16; ignored by
                  ov_gather_replace */
} ov_gather_scatter_arguments;

/* ScatterElements (ONNX ScatterElements-18). Data and output are contiguous, and may be the same; output_stride of the loops is
   that of a contiguous array of `elements`. The result is
   ov_gather_done, or 0 if any index is out of bounds. */
OV_GATHER_KERNEL int64_t ov_gather_scatter(const ov_gather_threads*, const ov_gather_scatter_arguments*, const void* data,
                                           const void* indices, const void* updates, void* output);

typedef struct {
    int64_t updates;        /* number of updated rows, with repetitions */
    int64_t rows, row_size; /* of the output; elements per row */
    int64_t width;          /* elements per update, at the start of a row */
    int64_t element_size;
    ov_gather_reduction reduction;
    char kind; /* as above */
} ov_gather_rows_arguments;

/* ScatterND (ONNX ScatterND-18): `rows` holds the output row of each update, in bounds. All memory is contiguous; data may be
   the output. */
OV_GATHER_KERNEL int64_t ov_gather_scatter_rows(const ov_gather_threads*, const ov_gather_rows_arguments*, const int64_t* rows,
                                                const void* data, const void* updates, void* output);

typedef struct {
    int64_t edges;           /* at most INT32_MAX, as are the numbers of rows */
    int64_t data_rows, rows; /* of data, and of the output */
    int64_t width;           /* elements per row */
    int64_t weight_count;    /* weights per edge, each for as many adjacent elements of a row: 0, or a divisor of the width */
    int64_t source_size, target_size; /* bytes of an index */
    int64_t element_size;
    ov_gather_reduction reduction; /* sum, min or max */
    int mean;                      /* divide sums by the number of edges */
    char kind;                     /* 'f' of 4 or 2 bytes; 'b': bfloat16 */
} ov_gather_aggregate_arguments;

/* For each edge, multiply a row of data by the weights, and reduce it to a row of the output, in float32 and in the order of
   the edges. Rows without edges are zeros. All memory is contiguous; weights have data's type. The result is ov_gather_done, or
   0 if any index is out of bounds. */
OV_GATHER_KERNEL int64_t ov_gather_aggregate(const ov_gather_threads*, const ov_gather_aggregate_arguments*, const void* data,
                                             const void* sources, const void* targets, const void* weights, void* output);

typedef struct {
    int64_t size, stride; /* bytes */
} ov_gather_limits_loop;

/* Return the position, in the order of the loops, of the first number outside of the two numbers `limits`; ov_gather_done if
   there is none. NaN is outside. `kind` is 'i', 'u' or 'f'; floats have 4 or 8 bytes. One thread: 100,000 numbers take
   microseconds. */
OV_GATHER_KERNEL int64_t ov_gather_first_outside(const void* numbers, char kind, int64_t element_size,
                                                 const ov_gather_limits_loop* loops, int64_t loop_count, const void* limits);

/* The instruction sets that this machine has, best first, separated by spaces; and the one in use, which OV_GATHER_ISA may
   name. */
OV_GATHER_KERNEL const char* ov_gather_available_isas(void);
OV_GATHER_KERNEL const char* ov_gather_isa(void);

#ifdef __cplusplus
}
#endif

#endif
