"""Running a plan: the C++ engine, its Cython modules, and the arithmetic of epochs."""
