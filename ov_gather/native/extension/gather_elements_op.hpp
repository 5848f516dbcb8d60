// GatherElements of the custom opset `ov_gather`: ONNX GatherElements-13 as an OpenVINO operation, on our kernel.
#pragma once

#include <openvino/op/op.hpp>

namespace ov_gather {

// Inputs: data (any type of whole bytes, or string), indices (i32 or i64), of one rank. Negative indices count from the end.
// Attributes: axis; broadcast = false: the output has the shape of indices, which may be smaller than data off the axis;
// true: off the axis each dimension of indices is 1 or data's, and the output has data's. transpose: the last two dimensions of
// the output change places. same_shape: off the axis each dimension of indices is data's, as GatherElements-6 has it. lanes:
// data has one dimension more than indices, the last, whose elements stay together, as the lanes of a wider number.
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

    int64_t m_axis = 0;
    bool m_broadcast = false;
    bool m_transpose = false;
    bool m_same_shape = false;
    bool m_lanes = false;
};

}  // namespace ov_gather
