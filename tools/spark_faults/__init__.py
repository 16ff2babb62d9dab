"""What becomes of copies when jobs and servers die."""
