"""Shapes of bodies in the files of models: read as data, placed on the bodies of a model, as triangles."""
