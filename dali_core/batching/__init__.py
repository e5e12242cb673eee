"""Division of data into batches: pure arithmetic, from which all else asks for samples."""
