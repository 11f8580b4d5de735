"""Validity of models: `physical`, values that parameters can have; `consistency`, parts and names that fit each
other."""
