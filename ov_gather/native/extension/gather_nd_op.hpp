// GatherND of the custom opset `ov_gather`: ONNX GatherND-13 as an OpenVINO operation, on our kernel.
#pragma once

#include <openvino/op/op.hpp>

#include "tensors.hpp"

namespace ov_gather {

// Inputs: data (any type of whole bytes, or string), indices (i32 or i64), whose last dimension holds tuples of coordinates.
// Negative coordinates count from the end. Attribute: batch_dims, the number of leading dimensions that data and indices share.
class GatherNDOp : public ov::op::Op {
public:
    OPENVINO_OP("GatherND", "ov_gather");

    GatherNDOp() = default;
    GatherNDOp(const ov::Output<ov::Node>& data, const ov::Output<ov::Node>& indices, int64_t batch_dims);

    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    void validate_and_infer_types() override;
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

private:
    ov::PartialShape infer_shape(const ov::PartialShape& data, const ov::PartialShape& indices) const;
    bool is_inferred(const Sizes& output, const Sizes& data, const Sizes& indices) const;

    int64_t m_batch_dims = 0;
};

}  // namespace ov_gather
