"""Models and statistics of data that several parties hold, from sums and products that none of them sees alone."""
