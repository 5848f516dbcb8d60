// Loads the extension, reads the IR and runs it on x = 0, 1, 2, 3 with alpha = 0.5, 2: ./host libsnake.so snake.xml
#include <iostream>
#include <openvino/openvino.hpp>

int main(int, char** arguments) {
    ov::Core core;
    core.add_extension(arguments[1]);
    auto request =
        core.compile_model(arguments[2], "CPU", ov::hint::inference_precision(ov::element::f32)).create_infer_request();
    float x[] = {0, 1, 2, 3}, alpha[] = {0.5, 2};
    request.set_tensor("x", ov::Tensor(ov::element::f32, {1, 2, 2}, x));
    request.set_tensor("alpha", ov::Tensor(ov::element::f32, {2}, alpha));
    request.infer();
    for (size_t i = 0; i < 4; ++i) std::cout << request.get_output_tensor().data<float>()[i] << "\n";
}
