"""Profiles of two streams: rates, ages, frequencies, and the model that explains their matches."""
