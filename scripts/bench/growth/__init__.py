"""Growth of the cost of a solve with the size of the work: tables, slopes and log-log figures by section."""
