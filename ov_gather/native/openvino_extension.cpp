// What OpenVINO finds in the library: our operations, and how its ONNX front end makes them from ONNX nodes.
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/core/version.hpp>
#include <openvino/frontend/onnx/extension/conversion.hpp>

#include "gather_elements_op.hpp"

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

// For `ov_gather.register`, which reads it from the file: a library for another OpenVINO could not even be loaded.
extern "C" __attribute__((visibility("default"), used)) const char ov_gather_built_for[] =
    "ov_gather built for OpenVINO " TEXT(OPENVINO_VERSION_MAJOR) "." TEXT(OPENVINO_VERSION_MINOR) "." TEXT(OPENVINO_VERSION_PATCH);

namespace {

ov::OutputVector convert_gather_elements(const ov::frontend::NodeContext& node) {
    return std::make_shared<ov_gather::GatherElementsOp>(node.get_input(0), node.get_input(1),
                                                         node.get_attribute<int64_t>("axis", 0), false)
        ->outputs();
}

}  // namespace

OPENVINO_CREATE_EXTENSIONS(std::vector<ov::Extension::Ptr>({
    std::make_shared<ov::OpExtension<ov_gather::GatherElementsOp>>(),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("GatherElements", convert_gather_elements),
}));
