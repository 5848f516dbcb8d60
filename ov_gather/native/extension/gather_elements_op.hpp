// GatherElements of the custom opset `ov_gather`: ONNX GatherElements-13 as an OpenVINO operation, on our kernel.
#pragma once

#include <openvino/op/op.hpp>

#include "tensors.hpp"

namespace ov_gather {

// Inputs: data (any type of whole bytes, or string), indices (i32 or i64), of the same rank. Negative indices count from the
// end. Attributes, besides axis:
// - broadcast: if false, the output has the shape of indices, which may be smaller than data off the axis. If true, each
//   dimension of indices off the axis is 1 or data's, and the output has data's.
// - transpose: swap the last two dimensions of the output.
// - same_shape: indices have data's dimensions off the axis, as in GatherElements-6.
// - lanes: data have an additional last dimension, whose elements stay together as the parts of a wider number.
class GatherElementsOp : public ov::op::Op {
public:
    OPENVINO_OP("GatherElements", "ov_gather");

    GatherElementsOp() = default;
    GatherElementsOp(const ov::Output<ov::Node>& data, const ov::Output<ov::Node>& indices, int64_t axis, bool broadcast,
                     bool transpose, bool same_shape, bool lanes);

    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    void validate_and_infer_types() override;
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

private:
    ov::PartialShape infer_shape(const ov::PartialShape& data, const ov::PartialShape& indices) const;
    ov::PartialShape infer_elements(const ov::PartialShape& data, const ov::PartialShape& indices) const;
    bool is_inferred(const Sizes& output, const Sizes& data, const Sizes& indices) const;

    int64_t m_axis = 0;
    bool m_broadcast = false;
    bool m_transpose = false;
    bool m_same_shape = false;
    bool m_lanes = false;
};

}  // namespace ov_gather
