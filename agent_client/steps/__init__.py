"""The eight steps of one iteration, in the order of their names here:
observe, construct, decide, validate, authorise, execute, record, terminate.
"""
