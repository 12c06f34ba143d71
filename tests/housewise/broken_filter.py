raise RuntimeError("a module may raise anything")
