"""Pipelines without code: reads, checks, explains and runs a job file."""

from headgate.jobs.job import Job, read_job
from headgate.jobs.problems import JobError, Problem

__all__ = ["Job", "JobError", "Problem", "read_job"]
