// The computation on a GPU: one work item for each element. The plugin defines the macros, and AXIS and EPSILON as gpu.xml says.
// Each tensor has four sizes and strides; if its rank is lower, the last sizes are 1.
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

#if AXIS < 0
#error "Snake: write axis as 0 or more; the plugin does not tell kernels the rank from which a negative one counts"
#endif

__kernel void snake_elements(const __global INPUT0_TYPE* x, const __global INPUT1_TYPE* alpha, __global OUTPUT0_TYPE* y) {
    int number = get_global_id(0), from = INPUT0_OFFSET, to = OUTPUT0_OFFSET, channel = 0;
    for (int i = 3; i >= 0; --i) {
        const int place = number % OUTPUT0_DIMS[i];
        number /= OUTPUT0_DIMS[i];
        from += place * INPUT0_PITCHES[i];
        to += place * OUTPUT0_PITCHES[i];
        if (i == AXIS) channel = place;
    }
    // The plugin writes attributes with six decimals: an epsilon of 1e-9 arrives as 0.
    const float wide = x[from], a = alpha[INPUT1_OFFSET + channel * INPUT1_PITCHES[0]], sine = sin(a * wide);
    y[to] = wide + sine * sine / (a + fmax((float)EPSILON, 1e-9f));
}
