"""Pictures of an episode: the house map, the scene graph, charts and films, as SVG or encoded images."""
