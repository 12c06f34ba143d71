from .shim import *
