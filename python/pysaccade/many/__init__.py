"""Many videos: stores of shards, on local disks and in buckets. The public names are in pysaccade, .work and .ray."""
