"""Dynamics of closed chains by velocity transformations [GJB94, 8.3].

Cut joints, removed bodies, independent coordinates.
"""
