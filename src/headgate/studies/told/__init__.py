"""Streams on which columns of the rows tell which of them match: what does learning them bring?"""
