"""Tables of counts or sums as a kind of data: its section of a job, its files and its report."""
