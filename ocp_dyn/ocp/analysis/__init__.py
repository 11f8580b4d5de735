"""Questions to a motion: active bounds, defects, stability."""
