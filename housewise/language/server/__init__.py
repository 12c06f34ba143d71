"""Chat models behind servers with the OpenAI protocol: requests, replies, retries and refusals."""
