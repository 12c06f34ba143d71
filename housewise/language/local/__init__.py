"""Language models that run in this process with torch: weights, adapters, batches and decoding under a grammar."""
