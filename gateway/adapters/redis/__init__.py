"""Operation records, approvals, breakers, rates and budgets on one Redis or Valkey, shared by many gateways."""
