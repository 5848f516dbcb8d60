"""The known departures of runtimes from ONNX: which, under which conditions, and what comes out instead."""
