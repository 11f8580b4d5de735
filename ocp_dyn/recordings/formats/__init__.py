"""Files of recordings by format; no format knows another."""
