# The suite of the example package is run where that package is installed: test_third_party.py.
collect_ignore = ["numpy_adapter"]
