"""The rules of the analysis say what each operation makes of what is known of its operands."""
