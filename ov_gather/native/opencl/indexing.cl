// Shared by the kernels. The GPU plugin of OpenVINO puts this file before a kernel, and the macros of the layer before both.
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

// The flag: what an element of the output becomes if its index is out of bounds. NaN, the lowest integer, or 255 of u8.
#define IS_FLOAT ((OUTPUT0_TYPE)0.5f != 0)
#define LOWEST ((OUTPUT0_TYPE)-1 < 0 ? (OUTPUT0_TYPE)(1L << (8 * sizeof(OUTPUT0_TYPE) - 1)) : (OUTPUT0_TYPE)-1)
#define FLAG (IS_FLOAT ? (OUTPUT0_TYPE)NAN : LOWEST)

// A tensor has four sizes and strides (in elements). If its rank is lower, the last sizes are 1: kernels do not know the rank.
typedef struct {
    int sizes[4], pitches[4], offset;
} Layout;

#define FOUR(array) {array[0], array[1], array[2], array[3]}
#define LAYOUT(TENSOR) {FOUR(TENSOR##_DIMS), FOUR(TENSOR##_PITCHES), TENSOR##_OFFSET}

// The product of the sizes of dimensions `first` to `last` - 1.
int count(const Layout* tensor, int first, int last) {
    int product = 1;
    for (int i = first; i < last; ++i) product *= tensor->sizes[i];
    return product;
}

// The coordinates of an element from its number in row-major order.
void unravel(const Layout* tensor, int number, int* place) {
    for (int i = 3; i >= 0; --i) {
        place[i] = number % tensor->sizes[i];
        number /= tensor->sizes[i];
    }
}

// The position in the buffer of the element at these coordinates, and of the element with this number.
int position(const Layout* tensor, const int* place) {
    int at = tensor->offset;
    for (int i = 0; i < 4; ++i) at += place[i] * tensor->pitches[i];
    return at;
}

int element(const Layout* tensor, int number) {
    int place[4];
    unravel(tensor, number, place);
    return position(tensor, place);
}

// ONNX's rule: negative indices count from the end of the axis. Return -1 if the index is out of bounds.
int checked(long index, int size) {
    const long from_start = index < 0 ? index + size : index;
    return 0 <= from_start && from_start < size ? (int)from_start : -1;
}

// The length of the tuples of coordinates: the last size of indices. It may be 1, like the sizes behind it that the rank lacks,
// so `elements`, the number of elements of the output or of updates, decides: with tuples of 1, each index stands for one
// element at each place in the other dimensions of data.
int tuple_length(const Layout* indices, const Layout* data, int batch_dims, int elements) {
    int last = 3;
    while (last > 0 && indices->sizes[last] == 1) --last;
    return elements == count(indices, 0, 4) * count(data, batch_dims + 1, 4) ? 1 : indices->sizes[last];
}
