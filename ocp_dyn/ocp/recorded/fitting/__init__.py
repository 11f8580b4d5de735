"""Inverse optimal control: parameters whose optimal motions come closest to measured ones."""
