// The entry point of the extension: our operations, and their conversions from ONNX nodes for OpenVINO's ONNX front end.
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/core/version.hpp>
#include <openvino/frontend/onnx/extension/conversion.hpp>
#include <openvino/op/constant.hpp>
#include <openvino/op/gather.hpp>
#include <openvino/op/scatter_elements_update.hpp>
#include <openvino/op/scatter_nd_update.hpp>
#include <openvino/op/util/shape_of_base.hpp>

#include <algorithm>
#include <unordered_set>

#include "gather_elements_op.hpp"
#include "gather_nd_op.hpp"
#include "gather_op.hpp"
#include "gather_scatter_op.hpp"
#include "platform.hpp"
#include "scatter_elements_op.hpp"
#include "scatter_nd_op.hpp"
#include "tensors.hpp"

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
#define RELEASE TEXT(OPENVINO_VERSION_MAJOR) "." TEXT(OPENVINO_VERSION_MINOR) "." TEXT(OPENVINO_VERSION_PATCH)

// `ov_gather.register` reads this text from the file, because a library for another OpenVINO could not be loaded.
extern "C" OV_GATHER_EXPORT const char ov_gather_built_for[] = "ov_gather built for OpenVINO " RELEASE;

namespace {

// Convert a GatherElements. In domain ov_gather, our converter emits it for data whose numbers are split into lanes.
template <bool lanes>
ov::OutputVector convert_gather_elements(const ov::frontend::NodeContext& node) {
    return std::make_shared<ov_gather::GatherElementsOp>(node.get_input(0), node.get_input(1),
                                                         node.get_attribute<int64_t>("axis", 0), false, false, false, lanes)
        ->outputs();
}

// Return true if a value is a shape computation: an integer vector or scalar that depends on a ShapeOf.
bool comes_from_shapes(const ov::Output<ov::Node>& value, std::unordered_set<ov::Node*>& seen) {
    const auto rank = value.get_partial_shape().rank();
    if (!value.get_element_type().is_integral_number() || rank.is_dynamic() || rank.get_length() > 1) return false;
    if (ov::is_type<ov::op::util::ShapeOfBase>(value.get_node())) return true;
    if (!seen.insert(value.get_node()).second) return false;
    const auto inputs = value.get_node()->input_values();
    return std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return comes_from_shapes(input, seen); });
}

// Keep shape computations stock: OpenVINO propagates bounds and symbols, and matches patterns, only through its own operations.
ov::OutputVector convert_gather(const ov::frontend::NodeContext& node) {
    const auto data = node.get_input(0), indices = node.get_input(1);
    const auto axis = ov::op::v0::Constant::create(ov::element::i64, {}, {node.get_attribute<int64_t>("axis", 0)});
    std::unordered_set<ov::Node*> seen;
    const bool is_constant = ov::is_type<ov::op::v0::Constant>(indices.get_node());  // other indices need a check
    if (is_constant && comes_from_shapes(data, seen))
        return std::make_shared<ov::op::v8::Gather>(data, indices, axis)->outputs();
    return std::make_shared<ov_gather::GatherOp>(data, indices, axis, 0, "error")->outputs();
}

ov::OutputVector convert_gather_nd(const ov::frontend::NodeContext& node) {
    return std::make_shared<ov_gather::GatherNDOp>(node.get_input(0), node.get_input(1),
                                                   node.get_attribute<int64_t>("batch_dims", 0))
        ->outputs();
}

// Return true if a scatter is a shape computation, to stay stock: constant indices in bounds, data or updates from shapes.
bool scatters_shapes(const ov::OutputVector& inputs, const std::string& reduction) {
    const auto indices = ov::as_type<ov::op::v0::Constant>(inputs[1].get_node());
    const auto& shape = inputs[0].get_partial_shape();
    if (reduction != "none" || !indices || !shape.compatible({ov::Dimension()}) || shape.is_dynamic()) return false;
    const auto positions = indices->cast_vector<int64_t>();
    const auto within = [&](int64_t index) { return ov_gather::is_in_bounds(index, shape[0].get_length()); };
    std::unordered_set<ov::Node*> seen;
    return std::all_of(positions.begin(), positions.end(), within) &&
           (comes_from_shapes(inputs[0], seen) || comes_from_shapes(inputs[2], seen));
}

// In domain ov_gather, our converter emits scatters of numbers that are split into lanes, and names their type.
ov::OutputVector convert_scatter_elements(const ov::frontend::NodeContext& node) {
    const ov::OutputVector inputs{node.get_input(0), node.get_input(1), node.get_input(2)};
    const auto axis = node.get_attribute<int64_t>("axis", 0);
    const auto reduction = node.get_attribute<std::string>("reduction", "none");
    if (scatters_shapes(inputs, reduction)) {
        const auto where = ov::op::v0::Constant::create(ov::element::i64, {}, {axis});
        return std::make_shared<ov::op::v12::ScatterElementsUpdate>(inputs[0], inputs[1], inputs[2], where)->outputs();
    }
    return std::make_shared<ov_gather::ScatterElementsOp>(inputs, axis, reduction,
                                                          node.get_attribute<std::string>("lanes", "none"))
        ->outputs();
}

ov::OutputVector convert_scatter_nd(const ov::frontend::NodeContext& node) {
    const ov::OutputVector inputs{node.get_input(0), node.get_input(1), node.get_input(2)};
    const auto reduction = node.get_attribute<std::string>("reduction", "none");
    if (scatters_shapes(inputs, reduction))
        return std::make_shared<ov::op::v15::ScatterNDUpdate>(inputs[0], inputs[1], inputs[2])->outputs();
    return std::make_shared<ov_gather::ScatterNDOp>(inputs, reduction, node.get_attribute<std::string>("lanes", "none"))
        ->outputs();
}

}  // namespace

OPENVINO_CREATE_EXTENSIONS(std::vector<ov::Extension::Ptr>({
    std::make_shared<ov::OpExtension<ov_gather::GatherElementsOp>>(),
    std::make_shared<ov::OpExtension<ov_gather::GatherOp>>(),
    std::make_shared<ov::OpExtension<ov_gather::GatherNDOp>>(),
    std::make_shared<ov::OpExtension<ov_gather::GatherScatterOp>>(),
    std::make_shared<ov::OpExtension<ov_gather::ScatterElementsOp>>(),
    std::make_shared<ov::OpExtension<ov_gather::ScatterNDOp>>(),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("GatherElements", convert_gather_elements<false>),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("GatherElements", "ov_gather", convert_gather_elements<true>),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("Gather", convert_gather),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("GatherND", convert_gather_nd),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("Scatter", convert_scatter_elements),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("ScatterElements", convert_scatter_elements),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("ScatterND", convert_scatter_nd),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("Scatter", "ov_gather", convert_scatter_elements),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("ScatterElements", "ov_gather", convert_scatter_elements),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("ScatterND", "ov_gather", convert_scatter_nd),
}));
