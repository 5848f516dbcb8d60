"""What each operator of OpenVINO asks of its attributes, constants, element types and shapes, and which outputs it gives."""
