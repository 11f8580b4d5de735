"""Packed against plain code of every algorithm, for models with and without equal limbs, for `check_packing.py`."""
