// ScatterElements of the custom opset `ov_gather`: ONNX ScatterElements-18 as an OpenVINO operation, on our kernel.
#pragma once

#include "scatter_op.hpp"

namespace ov_gather {

// Data, indices and updates have the same rank, and updates the shape of indices, which may be smaller than data off the axis.
// Additional attribute: axis.
class ScatterElementsOp : public ScatterOp {
public:
    OPENVINO_OP("ScatterElements", "ov_gather");

    ScatterElementsOp() = default;
    ScatterElementsOp(const ov::OutputVector& inputs, int64_t axis, const std::string& reduction, const std::string& lanes);

    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;

protected:
    void check_shapes(const ov::PartialShape& data, const ov::PartialShape& indices,
                      const ov::PartialShape& updates) const override;
    Update update(const ov::Shape& data, const ov::Tensor& indices) const override;

private:
    int64_t m_axis = 0;
};

}  // namespace ov_gather
