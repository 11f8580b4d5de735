"""People from the musculoskeletal models of subjects, as files have them."""
