"""Operation records, breakers and rates on one Redis or Valkey, shared by many gateways."""
