"""What engines that speak SQL share: the queries of a release, written once."""
