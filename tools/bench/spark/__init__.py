"""What the Spark jobs cost, sink by sink."""
