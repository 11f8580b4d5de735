"""Problems as their users write them: phases, footholds, path constraints, costs."""
