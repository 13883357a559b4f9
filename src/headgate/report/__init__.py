"""Text and figures that reports share."""
