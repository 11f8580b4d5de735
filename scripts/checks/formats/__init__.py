"""Files of models in a folder of the user's, compared with the programs to which their formats belong."""
