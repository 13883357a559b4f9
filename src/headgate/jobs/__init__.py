"""Whole pipelines without code: a job file read, checked, explained and run."""

from headgate.jobs.job import Job, read_job
from headgate.jobs.problems import JobError, Problem

__all__ = ["Job", "JobError", "Problem", "read_job"]
