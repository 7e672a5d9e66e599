"""`oncegate runs`: the tasks of agents. The only part of this package that knows `agent_client`; a gateway never loads it."""
