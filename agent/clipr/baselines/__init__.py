"""The methods that CLIPR is compared with, each as a function from MethodInputs to MethodResult."""
