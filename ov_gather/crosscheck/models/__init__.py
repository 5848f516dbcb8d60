"""Models: an IR with the operands that its layers have in it, and an ONNX model beside the IR that it became."""
