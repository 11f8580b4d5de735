"""Dynamics of closed chains by velocity transformations [GJB94, 8.3]: cut joints, removed bodies, independent coordinates."""
