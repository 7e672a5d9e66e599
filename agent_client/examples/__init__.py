"""Agents to read and to run. Each is one file that uses nothing but the public names of `agent_client`."""
