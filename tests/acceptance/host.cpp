// A plain C++ program with our extension: reads an IR, infers [[0, 1], [2, 3]] gathered by [[1, 0], [-1, <argument>]] on
// axis 1.
#include <openvino/openvino.hpp>

#include <cstdlib>
#include <iostream>

int main(int, char** arguments) {
    ov::Core core;
    core.add_extension(arguments[1]);
    auto request =
        core.compile_model(arguments[2], "CPU", ov::hint::inference_precision(ov::element::f32)).create_infer_request();
    float data[] = {0, 1, 2, 3};
    int64_t indices[] = {1, 0, -1, std::atoll(arguments[3])};
    request.set_input_tensor(0, ov::Tensor(ov::element::f32, {2, 2}, data));
    request.set_input_tensor(1, ov::Tensor(ov::element::i64, {2, 2}, indices));
    try {
        request.start_async();
        request.wait();
    } catch (const std::exception& error) {
        std::cout << error.what() << "\n";
        return 1;
    }
    const ov::Tensor output = request.get_output_tensor();
    for (size_t i = 0; i < output.get_size(); ++i) std::cout << output.data<float>()[i] << " ";
    std::cout << "\n";
    return 0;
}
