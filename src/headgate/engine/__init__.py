"""The join within a budget: kernel, structures, the plain-Python twin, and the step around them."""
