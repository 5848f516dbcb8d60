// GatherElements: one work item for each element of the output. An index serves all elements along a dimension in which indices
// have size 1: one that `broadcast` repeats, or that of the lanes, which indices lack.
#if AXIS < 0
#error "GatherElements: write axis as 0 or more; the plugin does not tell kernels the rank from which a negative one counts"
#endif
#if TRANSPOSE
#error "GatherElements: transpose=true has no kernel for GPUs"
#endif

__kernel void gather_elements(const __global INPUT0_TYPE* data, const __global INPUT1_TYPE* indices,
                              __global OUTPUT0_TYPE* output) {
    const Layout from = LAYOUT(INPUT0), index = LAYOUT(INPUT1), to = LAYOUT(OUTPUT0);
    int place[4], of_index[4];
    unravel(&to, get_global_id(0), place);
    const int own = position(&to, place);
    for (int i = 0; i < 4; ++i) of_index[i] = index.sizes[i] == 1 ? 0 : place[i];
    place[AXIS] = checked(indices[position(&index, of_index)], from.sizes[AXIS]);
    output[own] = place[AXIS] < 0 ? FLAG : data[position(&from, place)];
}
